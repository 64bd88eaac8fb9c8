# What commands say that measure by a plan, a recipe or a search, and that read what was measured.
# An argument that may be missing is "absent" then.

## Errors

error-plan =
    .resume-through = この測定では、毎回 `{ $source }` をマウントします
    .other-target = この測定のテスト `{ $test }` は `{ $target }` のものではありません。測定ファイルの共有またはマウントが異なります
    .another-machine = `{ $host }` は実験を開始したときのコンピューターと異なるか、再インストールされています
    .could-not-go-on = 実験を続行できませんでした
    .each-level-sets = `{ $factor }` のすべての水準で `{ $field }` を設定する必要があります
    .field-number = `{ $field }` に指定できるのは数値です。`{ $value }` は指定できません
    .field-size = `{ $field }` に指定できるのは `64 KiB` のようなサイズです。`{ $value }` は指定できません
    .field-value = `{ $field }` に `{ $value }` は指定できません
    .file-unread = `{ $path }` を読み取れません
    .is-a-table = `{ $path }` は表ですが、どの列が測定値かが指定されていません
    .multiples-only = クライアントのキャッシュを経由しない場合、このディスクは { $size } の倍数しか受け付けません
    .needs-server = `{ $text }` には、設定を変更できるサーバーが必要です
    .no-candidate = `{ $id }` という候補はありません
    .no-channels = `{ $target }` は共有ではないため、`--channels` は指定できません
    .no-dialect = `{ $dialect }` というダイアレクトはありません
    .no-experiment = `{ $run }` には再開できる実験がありません
    .mount-options = `mount_options` は、マウント経由で測定するときの項目です。`--through system` を付けてください
    .mount-option = `{ $option }` は計画で変えられるオプションではありません。使えるもの: { $known }、追加のみ可能なもの: sign, seal
    .through-tcp = TCP の測定に共有のクライアントは使いません。`--through` を外してください
    .channels-of-mount = マウントのチャネル数は、そのオプションで決まります
    .no-field = `{ $field }` はこの負荷の項目ではありません。指定できる項目: channels, streams, block, depth, threads, file_size, sessions, file (whole, sparse, one-block), signing (required, if-required, data-unsigned), signing_algorithm (HMAC-SHA256, AES-128-CMAC, AES-128-GMAC), encryption (on, off), cipher (AES-128-CCM, AES-128-GCM, AES-256-CCM, AES-256-GCM), dialect (2.0.2～3.1.1), source, receive_buffer, send_buffer, segment, congestion_control (reno, cubic, bbr), mount_options
    .no-figure-in-common = `{ $before }` と `{ $after }` に共通する測定値がありません
    .no-known-text = `{ $path }` の { $line } 行目は、UTF-8、UTF-16、コードページ 932 のいずれのテキストでもありません
    .no-pair = `{ $text }` は NAME=VALUE の形式ではありません
    .no-preset = プリセット `{ $name }` はありません
    .no-random-numbers = システムから乱数を取得できません: { $reason }
    .no-seconds = `--seconds` は指定できません。{ $recipe } は処理が完了した時点で終了します
    .no-size = `{ $size }` はサイズではありません
    .persist-own-mount = 共有がどのフォルダーにもマウントされていないため、`/etc/fstab` に書き込む行がありません
    .fstab-other-share = `/etc/fstab` の `{ $folder }` の行は、そこにマウントされている共有とは別の共有をマウントするものです
    .fstab-no-login = `/etc/fstab` に `{ $folder }` の行がなく、新しい行にはユーザー名とパスワードのファイルが必要です
    .fstab-changed = 実行中に、`/etc/fstab` の `{ $folder }` の行がほかから変更されました
    .mount-dialect = `mount_options` の `{ $option }` が `--dialect-min` と `--dialect-max` の範囲外です
    .no-such-fix = チェックが提案する変更に `{ $id }` はありません
    .no-such-size = `{ $size }` は `64 MiB` のようなサイズではありません
    .no-target = 計画にもコマンドラインにも測定対象が指定されていません
    .no-temporary-folder = 一時フォルダーを作成できません
    .no-test = { $recipe } にテスト `{ $test }` はありません
    .not-a-host = `tcp://{ $host }` はホストではありません
    .not-analysable = この計画で測定した結果は分析できません: { $reason }
    .not-measurable = { $level } では `{ $response }` を測定できません
    .not-on-target = これは `{ $target }` では実行できません
    .not-put-back = この実験で設定した内容を元に戻せません: { $settings }
    .nothing-runs = ここで実行できるテストがありません: { $reason }
    .nothing-to-vary = この計画の要因のうち、ここで変更できるものがありません: { $reasons }
    .only-of-recipes = `--dry-run`、`--zeros`、`--through`、`--file-size` は、プリセットまたはレシピと組み合わせて指定するオプションです
    .plan-line = 計画 `{ $plan }` の { $line } 行目
    .plan-unclear = 計画 `{ $plan }` を解釈できません: { $reason }
    .plan-unread = 計画 `{ $plan }` を読み取れません
    .preset-or-recipe = 計画の負荷には `preset` か `recipe` のどちらか一方を指定する必要があります
    .published-of-none = `{ $test }` の公表値が指定されていますが、計画にこのテストはありません
    .recipe-senseless = レシピの内容に誤りがあります: { $mistake }
    .recipe-unread = レシピ `{ $path }` を読み取れません
    .same-test = 大文字と小文字を区別しないと、レシピの 2 つのテストが同じ名前 `{ $name }` になります
    .sets-nothing = `{ $text }` は設定の指定ではありません
    .several-files = 複数のファイルは、1 つの比較の各条件としてのみ分析できます
    .stopped = 中止されました
    .unusable-files = `{ $files }` を使用できません
    .workload-of-plan = 計画の負荷: { $mistake }

## What to do about them

hint-plan =
    .add-preset = たとえば `--preset cdm9` を追加してください
    .add-target = たとえば `--target smb://HOST/SHARE` を追加してください
    .changes = `linerate changes` で確認してください
    .changes-and-run = `linerate changes` で確認してください。測定結果は { $path } にあります
    .examples = `plans/` にある計画を参考にしてください
    .fewer-files = ファイル数を減らした独自のレシピを作成してください。所要時間は `--dry-run` で確認できます
    .file-size = たとえば `--file-size '256 MiB'` のように指定してください
    .goes-on = `{ $command }` で再開できます
    .inspect-hosts = ホストの情報は `linerate inspect HOST` で確認してください
    .it-proposes = 提案された変更から指定してください: { $names }
    .its-tests = 次のテストから指定してください: { $names }
    .larger-blocks = ブロックを大きくするか `cache = "buffered"` を指定した独自のレシピを作成してください
    .more-time = `--budget` で時間を延ばすか、`--seconds` で試行を短くしてください
    .must-be-file = パスと権限を確認してください。ファイルを指定する必要があります
    .name-columns = `--response COLUMN --factors COLUMN,COLUMN` で列を指定してください
    .name-server = `--server HOST` でサーバーを指定してください
    .part-of-it = 一部だけを分析してください
    .plan-file = パスと権限を確認してください。計画は 1、2 ページ程度のテキストファイルです
    .recipe-file = パスと権限を確認してください。レシピは 1、2 ページ程度のテキストファイルです
    .recipe-line = 該当する行は `linerate bench TARGET --recipe FILE --dry-run` で確認してください
    .recipe-of-plan = 計画のレシピは、`..` やリンクを使わずに、計画と同じフォルダーかその下に置いてください
    .right-file = 正しいファイルかどうかを確認してください。表の場合は、UTF-8 の CSV で保存してください
    .same-tests = 同じプログラムの同じテストを比較してください
    .smaller-numbers = 計画またはそのレシピの数値を小さくしてください
    .streams-or-threads = ストリーム数やスレッド数は、独自のレシピで指定してください
    .target-file = ファイルが必要です。`smb://HOST/SHARE`、フォルダー、または `disk:FOLDER` を指定してください
    .target-tcp = これは TCP 単体の測定です。`iperf3 -s` を実行しているホストを `tcp://ADDRESS[:PORT]` で指定してください
    .tcp-address = `tcp://ADDRESS` または `tcp://ADDRESS:PORT` を指定してください
    .then = { $hint }。その後、{ $again }
    .there-are = 次のいずれかを指定してください: { $names }
    .tune-help = `linerate tune --help` を参照してください
    .undo-tells-more = `linerate undo` で詳細を確認してから、実験を再開してください
    .what-is-analysed = `check`、`bench`、`tune`、`experiment` のいずれかが書き込んだファイルを指定してください。iperf3、fio、hyperfine の結果は条件として `NAME=FILE` で、表は `--response COLUMN --factors COLUMN,COLUMN` を付けて指定してください
    .what-is-left = この計画のうち、ここで使える要因は { $names } です。除外した要因: { $left_out }
    .max-channels = `--channels` を外してください。計画の `mount_options` には `multichannel,max_channels=N` を指定できます
    .persist-own-mount = 共有をフォルダーにマウントしてそのフォルダーを指定するか、`--persist` を外してください
    .fstab-no-login = root だけが読めるファイルに書き、移動しない場所に置いて、`--credentials FILE` で指定してください
    .fstab-changed = その行を確認し、そのとおりにマウントしてから、コマンドを再度実行してください
    .resume-through = 自分の共有であれば `--through system` を付けてください
    .where-it-began = 新しい実験を開始するか、実験を開始したコンピューターで再開してください
    .write-arms = それぞれを `NAME=FILE` の形式で指定してください。最初のものが基準になります
    .write-pair = たとえば `--only profile=default` のように指定してください
    .write-settings = `client:nic.mtu@eth0=9000`、`server:smb.server.sendfile@media=on`、`workload:channels=2` のように指定してください

## What would be done, what is done, and what it gave

told-plan =
    .after-blocks = { $blocks } ブロック完了: { $known }
    .as-rules-say = すべて目安どおりの設定です
    .baseline-again = { $arm } (基準の再測定)
    .bench-takes = { $target } での { $recipe }: 約 { $seconds } 秒。何も実行していません
    .bench-takes-and-file = { $target } での { $recipe }: 約 { $seconds } 秒と、テストファイルの書き込み時間。何も実行していません
    .bench-takes-there = { $target } での { $recipe }: 約 { $seconds } 秒 (転送速度が 100 MB/s の場合)。何も実行していません
    .block-of = ブロック { $block }/{ $blocks }: { $level }
    .cannot-tell = 判定できません
    .column-block = ブロック
    .column-each = 1 回
    .column-experiment = 実験
    .column-order = 順序
    .column-passes = 反復
    .column-phase = フェーズ
    .column-place = 順番
    .column-takes = 所要時間
    .compared = { $name }: { $verdict }: { $ratio } 倍{ $low ->
            [absent] {""}
           *[other] {" "}[{ $low }, { $high }] (信頼度 { $confidence } %)
        }、{ $before } → { $after } (実行 { $runs_before } 回と { $runs_after } 回)
    .complete = この実験は完了しているため、再開する必要はありません
    .design = { $title }: { $form }、{ $arms } 条件
    .design-takes = 乱数シード { $seed }。約 { $seconds } 秒。何も変更していません
    .design-takes-there = 乱数シード { $seed }。約 { $seconds } 秒 (転送速度が 100 MB/s の場合)。何も変更していません
    .if-kept = 採用した場合の注意: { $warning }
    .kept = { $experiment }: 採用: { $reason }
    .left-out = 除外した要因: { $factor }
    .never-found = { $hoped } % の変化は、1,000 回実行してもここでは検出できません (実行ごとのばらつき { $noise } %)。
    .never-found-if = { $hoped } % の変化は、1,000 回実行してもここでは検出できません (実行ごとのばらつきを { $noise } % と仮定)。
    .next = { $first }。{ $next }
    .no-difference = 意味のある差なし
    .no-fix-promises = 効果を見込める変更が、チェックで見つかりませんでした
    .nothing-to-try = 試すものがありません: { $reason }
    .pass-counted = { $test } { $direction ->
            [Read] 読み取り
           *[Write] 書き込み
        }、反復 { $pass } 回目 (集計対象)
    .pass-discarded = { $test } { $direction ->
            [Read] 読み取り
           *[Write] 書き込み
        }、反復 { $pass } 回目 (集計対象外)
    .passes = { $passes } + 集計対象外 { $discarded }
    .phase-same = 同じ設定どうし
    .profile-changes-nothing = このプロファイルで変更される設定は、ここにはありません
    .recipe-on = { $target } での { $recipe }
    .repetition = { $direction }、反復 { $number } 回目
    .returned = { $experiment }: 元に戻しました: { $reason }
    .runs-needed = { $hoped } % の変化を検出するには、変更前と変更後にそれぞれ { $runs } 回の実行が必要です (実行ごとのばらつき { $noise } %)。変更前と変更後を 1 回ずつ交互に実行してください。
    .runs-needed-if = { $hoped } % の変化を検出するには、変更前と変更後にそれぞれ { $runs } 回の実行が必要です (実行ごとのばらつきを { $noise } % と仮定)。変更前と変更後を 1 回ずつ交互に実行してください。
    .mounts-with = ホストでは何も実行しません。測定ごとに `{ $options }` で共有をマウントします
    .runs-nothing = なし (セッションだけの設定です)
    .runs-nothing-now = なし (現在の設定と同じか、セッションだけの設定です)
    .search-takes = 乱数シード { $seed }。試行 { $fewest }～{ $most } 回 (開始時の状態どうしの比較、予備選別、絞り込み、結果の実証)。何も変更していません
    .seconds = { $seconds } 秒
    .seconds-if-won = { $seconds } 秒 (改善した場合)
    .server-silent = 転送にかかるサーバーの CPU 時間は不明です。{ $host } から取得できません
    .server-unnamed = 転送にかかるサーバーの CPU 時間は不明です。`--server HOST` でサーバーを指定すると測定できます
    .trials-there = 試行 { $trials } 回分の結果がすでにあります
    .tune-takes = 乱数シード { $seed }。{ $least }～{ $most } 秒。何も変更していません
    .until-done = 完了まで
    .visit-measures = 毎回測定する項目: { $responses }
    .what-is-left = 残りの要因での実験計画: { $form }
    .would-run = { $what } で実行されるコマンド:
    .writes-at-most = 同時に使用する容量は最大 { $size } で、終了後に削除します。空き容量がこれより 1 割多くない場合は実行しません
    .writes-file = { $target } に { $size } のテストファイルを 1 つ書き込みます
    .writes-files = { $test }: { $task } ({ $target } 内の専用フォルダー)
