# What a report says beside its conclusions: names, rows, headings, experiments.
# An argument that may be missing is "absent" then.

## Words

direction =
    .read = 読み取り
    .read-explained = 読み取り (サーバー → クライアント)
    .write = 書き込み
    .write-explained = 書き込み (クライアント → サーバー)
rung =
    .ceiling = 上限
    .tcp = TCP 単体
    .streams = 多重 TCP
    .share = 共有
    .channels = チャネル
    .system-client = マウント
    .system-program = アプリ
    .system-copy = cp
    .disk = ディスク
    .copy = コピー
    .in-direction = { $rung } { $direction }
place =
    .share = 共有
    .folder = フォルダー
    .disk = ディスク
    .once = 単発
phase =
    .same = A 対 A
    .compare = 比較
    .confirm = 確認
    .all = 全ブロック
verdict =
    .better = 改善
    .worse = 悪化
    .equivalent = 同等
    .undecided = 未判定
list = { $first } と { $last }
count =
    .blocks = { $count } ブロック
    .changes = { $count } 件の変更
    .channels = { $count } チャネル
    .cores = { $count } コア
    .files = { $count } ファイル
    .folders = { $count } フォルダー
    .frames = { $count } フレーム
    .players = { $count } 台
    .resent = 再送 { $count } セグメント
    .streams = { $count } ストリーム
    .threads = { $count } スレッド
    .times = { $count } 回
    .trials = { $count } 回

## Headings

heading =
    .why = 原因
    .fixes = 試すこと
    .not-measured = 未測定
    .noise = ノイズ
    .screened-out = 予備選別で除外
    .not-tried = 試していないもの
    .left-changed = 残っている変更
    .to-know = 注意事項
    .rates = 速度が失われる場所
    .measured = 測定結果
    .every-trial = すべての試行

## The first sentence

headline-of-run =
    .nothing = 何も測定できなかったため、判定できません
    .no-measurement = 何も測定できませんでした
tuned =
    .unsteady = 。測定環境が不安定で、細かな差は判定できません
    .unsteady-and-not-kept = 。測定環境が不安定で、細かな差は判定できません。採用しなかった変更にも効果がある可能性があります
    .undecided = まだ何も判定できていません{ $warning ->
            [absent] {""}
           *[other] { $warning }
        }
    .kept-nothing = { $planned }のうち採用したものはありません。改善が実証された変更はありません{ $warning ->
            [absent] {""}
           *[other] { $warning }
        }
    .kept-together = { $planned }のうち { $kept } 件を採用しました。合わせて{ $proven }: { $names }{ $warning ->
            [absent] {""}
           *[other] { $warning }
        }
    .kept = { $planned }のうち { $kept } 件を採用しました: { $each }{ $warning ->
            [absent] {""}
           *[other] { $warning }
        }
    .one = `{ $change }` ({ $proven })
proven =
    .ratio = { $direction } { $ratio }
    .same = { $direction }は変化なし
    .unknown = { $direction }は判定不能
untried = 何も試していません
    .alarm = 何も試していません。測定環境が不安定で、同じ設定どうしでも差が出ました
    .nothing-promises = { $planned }のうち採用したものはありません。効果を実証できそうな変更がありません
    .reason = 何も試していません: { $reason }
    .all = { $planned }のうち試したものはありません
alert =
    .cut-short = この測定は途中で打ち切られました。それまでに測定した分だけを示します。ヒント: 変更が残っているかどうかは `linerate changes` で確認できます
    .noise = 同じ設定どうしの比較で差が出ました ({ $direction } { $ratio })。以下の結果は信用できません。ヒント: ネットワークがほかに使われていないときに、もう一度実行してください
    .not-restored = 変更 `{ $change }` を元に戻しましたが、ホストの設定が変更前と一致しません。ヒント: 残っている変更は `linerate changes` で確認できます
    .run-file = 実行記録: { $warning }
    .more-than-fits = { $first }{ $others ->
            [absent] {""}
           *[other] {" "}ほか { $others } 件
        }が、使用中の NIC の上限 { $rate } を超えています。リンクの情報が実際と異なるか、データが別の経路を通っています

## The ladder

interval = 信頼区間
    .at = 信頼区間 { $confidence }
    .computed = 計算値
    .few-trials = 試行不足
    .few-blocks = ブロック不足
of-ceiling = 上限比
    .share = 上限の { $share }
ceiling = 上限{ $directions ->
        [absent] {""}
       *[other] {" "}({ $directions })
    }: { $because }
    .of-links = { $rung }の上限{ $directions ->
        [absent] {""}
       *[other] {" "}({ $directions })
    }: { $rate } (使用した全リンクの合計)
small-files = 小さなファイル ({ $direction }): { $each }{ $requests ->
        [absent] {""}
       *[other] {" "}(小さな要求 { $requests } 回分)
    }、1 つずつ処理して毎秒 { $files } ファイル
line-at-mtu = { $rate } (MTU { $mtu })
ends = `{ $nic }` → `{ $address }`
    .address = `{ $address }` へのチャネル
    .numbered = { $ends } ({ $number } 本目)
idle-channels = 同時に使った { $count } チャネル ({ $direction }) のうち: { $idle }
    .one = { $channel } は { $rate }{ $full ->
            [absent] {""}
           *[other] {" "}(NIC の使用率 { $full })
        }
not-measured = 未測定
    .rung = { $rung } { $directions }: { $reason }
    .candidate = `{ $name }`: 試行していません
session = SMB { $dialect }、{ $identity }、{ $protection }、{ $channels }
    .of-share = 共有: { $session }
identity =
    .user = ユーザー認証
    .guest = ゲスト
    .anonymous = 匿名
protection =
    .encrypted = { $algorithm } で暗号化
    .signed = { $algorithm } で署名
    .signed-but-data = { $algorithm } で署名 (データを除く)
    .none = 署名・暗号化なし

## Causes and remedies

no-cause = 原因は不明です
    .complete = どの段階にも速度低下はありません
cause-state =
    .computed = 構成情報から計算
    .measured = 今回の測定で確認
    .relieved = 実証済み: 取り除くと { $gain }
    .binding = 実証済み: 減らすと同じだけ遅くなる
    .suspected = 疑い。判定するには: { $decides }
    .unknowable = ここからは判定できません: { $needs }
    .unknowable-so-far = ここからは判定できません
    .ruled-out = 除外済み
more =
    .in-report = ほか { $count } 件はレポートにあります
    .details = ほか { $count } 件はレポートにあります
    .in-run-file = ほか { $count } 件は実行記録にあります
prediction = 予測 { $ratio }
    .none = 効果は予測できません
fix-row =
    .tune = ヒント: `{ $command }` で順に試し、効果が実証されたものだけを残せます
    .tune-explained = `{ $command }` は公平な実験で 1 つずつ試し、効果が実証されたものだけを残します。
    .disturbs = 影響:
    .cannot-be-tried = ここでは試せません:
    .sets = 設定:

## Experiments

question =
    .baseline = 同じ設定どうしの差はどれだけか?
    .faster = `{ $change }` は `{ $a }` より速いか?
    .faster-with = `{ $a }` に `{ $change }` を加えると速くなるか?
difference =
    .factor = { $factor } 倍
effect =
    .better = 改善
    .worse = 悪化
    .equivalent = 意味のある差なし:
    .undecided = まだ判定できません:
    .by = { $difference }
    .by-factor = { $ratio }
    .matters-from = { $difference } (意味のある差は { $band } から){ $blocks ->
            [absent] {""}
           *[other] 。あと約 { $blocks } ブロックで判定できます
        }
    .nothing-compared = 比較していません
    .cannot-be-told = 判定不能: { $medians }
decision =
    .together = 採用したもの全体を、新しい試行で開始時の状態と比較した結果です
    .together-not-proven = 元に戻しました: 開始時の状態に対する改善を実証できませんでした
    .none = 判定していません
    .kept = 採用: { $reason }
    .kept-in-the-rest = 採用: これを外すと残り全体が遅くなります
    .kept-alone = 採用: 新しい試行で開始時の状態より改善しました
    .returned = 元に戻しました: { $reason }
    .in-full = 全文:
won =
    .proven = 改善を実証
    .better = { $count ->
           *[other] { $directions }が改善
        }
    .of-which-fresh = { $blocks }で{ $what } (うち { $fresh } ブロックは新しい試行)
    .again = { $blocks }で{ $what }、新しい { $again } ブロックでも再確認
noise-floor = 同じ設定どうしの差 { $ratio }{ $floor ->
        [absent] {""}
       *[other] 。{ $floor }
    }
    .alarm = ノイズの範囲を超えています。この測定の差は信用できません
    .finds-nothing = 不安定: 差をまったく検出できません
    .unsteady = 不安定: { $difference } 以上の差しか検出できません
    .steady = 安定: { $difference } 以上の差を検出できます
processor-cost = 1 GB あたりの CPU 時間: クライアント { $client } 秒、サーバー { $server } 秒
    .of-client = 1 GB あたりの CPU 時間: クライアント { $client } 秒
    .of-server = 1 GB あたりの CPU 時間: サーバー { $server } 秒
    .server = サーバー { $cost }
left =
    .advice = `{ $name }` は共有を使うクライアント側の設定です (`{ $field }` { $value })。ホストの設定は変更していません
    .mount = `{ $name }` は linerate 自身のマウントで測定しました。既存のマウントはそのままです。適用するには:
    .unknown = 不明です。測定が途中で打ち切られました。残っている変更は `linerate changes` で確認し、`linerate undo` で元に戻せます
    .nothing = この測定で変更されたままのホスト設定はありません
    .stays = これらは再起動まで有効です。`--persist` または `linerate set --persist` を使うと再起動後も有効です。{ $undo } ですべて元に戻せます
    .stays-samba = これらは Samba の設定ファイルの行で、再起動後も有効です。{ $undo } ですべて元に戻せます
    .stays-both = Samba の設定は再起動後も有効で、それ以外は再起動まで有効です。`--persist` または `linerate set --persist` を使うとそれらも再起動後に有効です。{ $undo } ですべて元に戻せます
knob-line = `{ $host }` の `{ $id }` を { $value } に: { $targets }
workload-line = linerate 自身の転送で `{ $field }` を { $value } に
    .mount = `{ $value }` でマウント

## What a reader must know

caveat =
    .every-rung = すべての段階
    .fixes = { $count ->
           *[other] 対策 { $names }
        }
    .noise = ノイズ
    .arm = 条件 { $arm } { $direction } ({ $phase })
    .processor-time = { $name }の CPU 時間
change =
    .opened = 変更 `{ $id }` を開始しました
    .restored = 変更 `{ $id }` を開始して元に戻しました。変更前と一致しています

## Workloads

trial-workload =
    .tcp = TCP 単体 { $direction }、{ $streams }、宛先 { $server } ポート { $port }{ $nic ->
            [absent] {""}
           *[other] 、NIC { $nic }
        }
    .folder = { $kind } { $folder } { $direction }、{ $threads }で同時に { $depth } 個 (各 { $block })、ファイル { $size }
    .task = { $place } { $direction }: { $task }
    .enter = 共有への接続と切断
    .read-once = 共有のファイルを 1 回読み取り
    .copy = 共有のファイルをクライアントへ { $times } 回コピー
    .small-files = { $size } のファイル { $count } 個の{ $direction }
    .share = 共有 { $direction }、最大 { $channels }、同時要求 { $depth } 個 (各 { $block })、ファイル { $size }
task =
    .sizes = { $least }～{ $most }
    .copy-one = { $each } のファイルを 1 個コピー{ $program ->
            [absent] {""}
           *[other] {" "}(`{ $program }` による)
        }
    .copy = { $folders }の { $files } (各 { $each }、合計 { $all }) をコピー{ $program ->
            [absent] {""}
           *[other] {" "}(`{ $program }` による)
        }
    .create = 空の { $files }を作成
    .open = { $files }を開いて閉じる
    .remove = { $files }を削除
    .lock = ロックの取得と解放を { $times } 回
    .stream = { $each } のファイル 1 個を先頭から末尾まで転送
    .list = { $files }の一覧を { $times }取得
    .play = { $frame } のフレームを毎秒 { $frames }、{ $players }で再生 (先読み { $ahead }、合計 { $all })
bench =
    .no-repetition = 測定できた反復がありません
    .failed = 失敗:
    .median = 中央値
    .at-confidence = { $estimate } (信頼度 { $confidence })
    .few-repetitions = { $estimate } (反復が少なく、信頼区間を計算できません)

## How it was measured

method =
    .ladder = 段階測定: 各段階は最大 { $trials }の試行の中央値です (毎回新しい接続)。上限はホストの構成情報から計算しています
    .experiments = 実験: 各条件 1 回ずつの試行を 1 ブロックとし、順序を無作為にして対で比較しました。効果は比で表します (対数差の Hodges-Lehmann 推定)。意味のある差は { $band } から。指定した信頼度は { $confidence }
    .seed = 無作為な順序の乱数シードは { $seed } です (実行記録に保存)
    .blocks = `{ $change }`: { $parts }{ $confidence ->
            [absent] {""}
           *[other] 。実際に達した信頼度は { $confidence } 以上
        }
    .no-block = 完了したブロックなし
    .title = 測定方法と再現の手順
    .written-by = 作成: { $program }、開始: { $started }
    .repeat = 再現するには: { $command }

## The page

page =
    .title = { $subject } の { $command }
    .footer = MB は 10⁶ バイト、MiB は 2²⁰ バイトです。角括弧内の数値は区間 [下限, 上限] です。比は 1 より大きいほど良い値です。
    .rate-and-share = : 速度と上限比
    .experiment = 実験 { $number }: { $question }
    .noise = ノイズ: { $question }
    .effect = : B の速度 ÷ A の速度とその信頼区間 (対数軸)
    .band = 意味のある差なし: { $band } 以内
    .first-look = 白抜き: 最初の比較
    .counts = 塗りつぶし: 判定に使う効果
    .medians = 線は中央値
    .axis-cut = 。縦軸は 0 から始まりません
    .blocks-in-order = 、MB/s、実行順のブロック
    .trial-numbers = すべての試行の数値
    .one-repetition = 1 回の反復
    .interval-of-median = 中央値の信頼区間
    .line-is-median = 線は中央値。縦軸は 0 から始まりません
    .repetitions-in-order = 、MB/s、実行順
    .hosts = 開始時のホスト
    .no-host = 調査したホストはありません
    .client = クライアント
    .server = サーバー
    .kernel = カーネル { $kernel }
    .memory = メモリー { $size }
    .congestion-control = TCP 輻輳制御 { $name }
    .receive-buffer = TCP 受信バッファー 最大 { $size }
    .shaped = シェーパー { $rate }
column =
    .rung = 段階
    .rate = 速度
    .interval = 信頼区間
    .bits = ビット換算
    .of-ceiling = 上限比
    .of-above = 1 つ上の段階比
    .confidence = 信頼度
    .trials = 試行
    .response = 方向
    .part = 部分
    .effect = 効果
    .b-over-a = B ÷ A
    .blocks = ブロック
    .verdict = 判定
    .arm = 条件
    .median = 中央値
    .cpu = CPU
    .server-cpu = サーバーの CPU
    .resent = 再送
    .trials-by-block = 各ブロックの試行 (MB/s)
    .workload = 負荷
    .repetitions = 各反復 (MB/s)
    .link = リンク
    .speed = 速度
    .addresses = アドレス
    .driver = ドライバー
    .queues = キュー rx/tx
state =
    .up = 接続
    .down = 切断
    .unknown = 不明
    .on = オン
    .off = オフ
noise-verdict =
    .alarm = 差あり: 信用できません
    .unsteady = 不安定: 細かな差は判定不能
    .steady = 正常
