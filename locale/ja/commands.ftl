# What commands say while they work, and what `doctor` says.
# An argument that may be missing is "absent" then.

## Progress

stage =
    .path = 経路を調べています
    .ladder = 速度が失われる段階を測定しています
    .cause = { $cause } を検証しています
    .kind-of-limit = 制限の種類を調べています
    .hidden-limits = 互いに隠れている制限を探しています
    .baseline = { $experiment }: 同じ設定どうしの比較 (試行 { $trials } 回)
    .compare = { $experiment }: 比較 (試行 { $trials } 回)
    .confirm = { $experiment }: 新しい試行で確認 (試行 { $trials } 回)
    .round = { $what } (試行 { $trials } 回)
    .repetitions = { $count } 回測定しています
step =
    .tcp = TCP 単体 { $direction }
    .share = 共有 { $direction }
    .folder = フォルダー { $direction }
    .login = ログイン { $direction }
    .server-disk = サーバーのディスク { $direction }
    .copy = ローカルディスクへのコピー { $direction }
    .small-files = 小さなファイル { $direction }
    .setting = { $level } を設定しています
    .block = ブロック { $block }、条件 { $arm }、{ $direction }{ $discarded ->
            [absent] {""}
           *[other] {" "}(集計対象外)
        }
    .restoring = すべて元に戻しています

## Remarks

trial-failed = 試行が失敗しました: { $reason }
server-untold = 注意: { $server } の情報を取得できないため、なしで続行します: { $reason }
candidate-untried =
    .not-kept = 試しません: `{ $id }` は再起動後に維持できません: { $reason }
    .too-many = 試しません: `{ $id }`: 候補が { $most } 件を超えています
    .blocked = 試しません: { $text }: { $reason }
    .budget = { $seconds } 秒ではすべてを試せません。試さないもの: { $names }
written-file =
    .run = 実行記録: { $path }
    .report = レポート: { $path }

## What `doctor` says of this machine

doctor =
    .build = linerate { $version }、{ $commit }、{ $target }
    .debug-build = linerate { $version }、{ $commit }、{ $target }、デバッグビルド
    .label-system = システム
    .label-interfaces = インターフェイス
    .label-programs = プログラム
    .label-settings = 設定
    .label-sandbox = サンドボックス
    .label-state = 状態
    .unknown = 不明: { $failure }
    .without-ip = 不明: iproute2 の `ip` が必要ですが、ないか、別のプログラムです
    .system = { $name ->
            [absent] {""}
           *[other] { $name }、
        }カーネル { $kernel }、{ $architecture }、CPU { $processors } コア{ $memory ->
            [absent] {""}
           *[other] 、メモリー { $memory }
        }、{ $rights }{ $mounts ->
            [absent] {""}
           *[other] 、{ $mounts }
        }{ $waits ->
            [absent] {""}
           *[other] 、{ $waits }
        }
    .as-root = root で実行
    .not-as-root = root 以外で実行
    .mounts-no-smb = SMB 共有をマウントできません
    .counts-no-waits = ディスクの待ち時間が計測されません
    .interfaces = { $count } 個: { $driver }{ $medium ->
            [absent] {""}
           *[other] 、{ $medium }
        }{ $rate ->
            [absent] {""}
           *[other] 、{ $rate }
        }、MTU { $mtu }、{ $state }
    .no-driver = ドライバーなし
    .cable = 有線
    .wireless = 無線
    .tunnel = トンネル
    .bridge = ブリッジ
    .program = { $name }: { $state } ({ $use })
    .is-there = あり
    .not-there = なし
    .settings = 読み取れる設定 { $read } 個、うち変更できるもの { $settable } 個
    .settings-by-root = 読み取れる設定 { $read } 個、うち root が変更できるもの { $settable } 個
    .refused = { $reason }: { $ids }
    .sandbox-complete = 完全
    .sandbox-incomplete = 不完全: { $missing }
    .folder-named = LINERATE_STATE_DIR で指定されたフォルダー
    .folder-of-root = root のフォルダー
    .folder-of-user = ユーザーのフォルダー
    .state = { $folder }: { $runs ->
            [absent] 実行記録なし
           *[other] 実行記録 { $runs } 件
        }、残っている変更 { $changes } 件{ $damaged ->
            [absent] {""}
           *[other] 、読み取れない変更 { $damaged } 件
        }
doctor-use =
    .ip = アドレス、経路、MTU
    .tc = キューイング規則とシェーパー
    .ethtool = NIC のオフロード、キュー、カウンター
    .sysctl = TCP の設定
    .testparm = Samba サーバーの設定
    .iperf3 = TCP 単体 (このコンピューターがサーバーの場合)
    .fio = `bench` のフォルダーとディスク
    .ssh = `ssh://` で指定するホスト
    .smbd = Samba サーバーを含むラボ
    .kerberos = チケットによるログイン
    .kerberos-static = チケットによるログイン (ライブラリーなしのプログラムでは読み込めません)
