# Errors of trials and of labs, and what to do about them.
# An argument that may be missing is "absent" then.

## Trials

error-measure =
    .usage = 試行を指定どおりに実行できません: { $reason }
    .input = 試行の入力を { $column } バイト目以降で解釈できません
    .stopped = 試行が中止されました
    .recipe = レシピ `{ $name }` を使用できません: { $reason }
    .recipe-line = { $line } 行目はレシピの記述ではありません
    .no-size = サイズ `{ $size }` はありません。次のいずれかを指定してください: { $sizes }
    .connect = `{ $address }` に接続できません
    .nic = 接続にインターフェイス `{ $nic }` を使用できません
    .not-agreed = `{ $server }` は、指定した { $demanded } ではなく { $agreed } で合意しました
    .silence = `{ $server }` との間で、{ $counted } の間データがまったく転送されませんでした
    .too-slow = `{ $server }` との間で、{ $limit } 以内に完了して集計できる処理がありませんでした。処理にこれより長い時間がかかっています
    .disagreement = 転送量が、`{ $server }` の報告では { $far } バイト、こちらの集計では { $ours } バイトで、一致しません。どちらも信用できません
    .talk-to = `{ $server }` に送信できません
    .hear-from = `{ $server }` から受信できません
    .listen-to = `{ $server }` からの受信を待機できません
    .hear-end = `{ $server }` から終了の通知を受信できません
    .move-data = `{ $server }` との間でデータを転送できません
    .open-stream = `{ $server }` へのデータストリームを開けません
    .busy = iperf3 サーバー `{ $server }` は別のテストを実行中です
    .server = iperf3 サーバー `{ $server }` がエラー { $code }{ $system ->
            [absent] {""}
           *[other] {" "}({ $system })
        } を報告しました
    .ended = iperf3 サーバー `{ $server }` が予定より早くテストを終了しました
    .protocol = `{ $server }` の応答が iperf3 のプロトコルに従っていません: { $reason }
    .protocol-state = 状態が { $wanted } になるはずのところで { $found } になりました
    .protocol-results = 結果が { $bytes } バイトあります
    .protocol-unclear = 結果を解釈できません ({ $problem })
    .protocol-stream = 結果に { $bytes } バイトのストリームが含まれています
    .protocol-streams = 結果に含まれるストリームが { $streams } 本です
    .protocol-again = テストの開始が 2 回通知されました
    .no-iperf = TCP 単体のサーバーにするホストに `iperf3` がありません
    .far-server = `iperf3` をサーバーとして起動できません: { $reason }
    .server-silent = { $limit } 経過しても待ち受けを開始しません
    .server-gone = すでに終了しています
    .server-status = 終了コード { $status } で終了しました
    .no-tcp = TCP 単体は測定していません
    .no-iperf-server = 応答する iperf3 サーバーがなく、linerate がそのホストでコマンドを実行することもできません
    .no-fio = フォルダーとディスクのテストに使う `fio` が、クライアントにありません
    .fio = `fio` の結果を信用できません: { $reason }
    .fio-output = 結果が `--output-format=json` の形式ではありません
    .fio-nothing = 集計時間中に何も転送しませんでした
    .fio-late = { $limit } 以内に終了しませんでした
    .fio-status = 終了コード { $status } で終了しました: { $said }
    .no-space = `{ $share }` にテストファイルを作成する空き容量がありません: 余裕を含めて { $needed } バイト必要ですが、空きは { $available } バイトです
    .test-file = `{ $folder }` にテストファイルを作成できません
    .second-mount = テストのために `{ $share }` をマウントできません: { $reason }
    .second-mount-root = マウントには root 権限が必要です
    .second-mount-user = このログインは `mount.cifs` に渡せません
    .second-mount-status = `mount.cifs` が状態 { $status } で終了しました: { $said }
    .second-mount-comma = パスにコンマがあります。`mount.cifs` はこれをオプションの区切りとして扱います
    .second-mount-missing = `mount.cifs` がありません (パッケージ `cifs-utils`)
    .second-mount-elsewhere = 別の場所にマウントされました
    .own-mounts = 専用のマウント名前空間を作成できません
    .no-file = 読み取りに使える { $least } MB 以上のファイルが `{ $share }` にありません
    .no-file-up-to = 読み取りに使える { $least }～{ $most } MB のファイルが `{ $share }` にありません
    .nothing-to-read = 読み取りに使える { $least } MB 以上のファイルが `{ $share }` になく、作成することもできません
    .no-disk = 共有がサーバーのメモリー上にあるため ({ $file-system })、読み取るディスクがありません
    .late = 試行が { $limit } 以内に終わらなかったため、強制終了しました
    .no-result = `{ $program } trial` が結果を出力せずに終了しました (終了コード { $status })
    .no-program = クライアントのホストに `{ $program }` がありません
    .nonsense-of-probe = `{ $program } probe` の出力が正しくありません
    .nonsense-of-trial = `{ $program } trial` の出力が正しくありません: { $reason }
    .endless-line = { $bytes } バイトの行に改行がありません
    .measured-for-kept = テストファイルの保持を要求しましたが、測定が行われました
    .start-thread = スレッドを開始できません
    .random = 乱数を取得できません
    .file-system = ファイルシステムの情報を取得できません
    .free-space = 空き容量を取得できません
    .lock-file = ファイルをロックできません
    .write-test-file = テストファイルに書き込めません
    .sync-copy = コピーをディスクに書き込めません
    .echo-socket = エコー要求用のソケットを開けません
    .read-targets = プローブの対象を読み取れません
    .write-proofs = プローブの結果を書き込めません
    .close-inherited = 継承したファイル記述子を閉じることができません
    .give-up-rights = 権限を放棄できません
    .look-at-folder = フォルダーの情報を取得できません
    .take-socket = ソケットを引き継ぐことができません
    .read-input = 試行の入力を読み取れません
    .worker-socket = 試行のプロセス用のソケットを作成できません
    .start-worker = 試行のプロセスを開始できません
    .instruct-worker = 試行のプロセスに指示を送信できません
    .watch-worker = 試行のプロセスを監視できません
    .await-worker = 試行のプロセスの終了を待機できません
    .worker-end = 試行のプロセスを最後まで実行できません
    .usage-segment = セグメントのサイズが { $bytes } バイトです。指定できるのは { $least }～{ $most } バイトです
    .usage-buffer = バッファーのサイズが { $bytes } バイトです。指定できるのは { $least }～{ $most } バイトです
    .usage-source = { $source } を送信元にして接続することはできません
    .usage-spans = ウォームアップと集計の時間は、それぞれ最大 { $most } です
    .usage-interval = サンプルの間隔 { $interval } は、{ $least } 以上で、集計時間の { $measured } 以下でなければなりません
    .usage-samples = サンプルが { $most } 個を超えます
    .usage-threads = スレッド数が { $threads } です。指定できるのは 1～{ $most } です
    .usage-under-way = 同時に実行する操作の数が { $operations } です。指定できるのは 1～{ $most } です
    .usage-opposite = `other_way_percent` は 0～99 にする必要があります。すべての操作を逆方向にする場合は、方向の指定を逆にしてください
    .usage-streams = ストリーム数が { $streams } です。指定できるのは 1～{ $most } です
    .usage-channels = チャネル数が { $channels } です。指定できるのは 1～{ $most } です
    .usage-sessions = { $of ->
            [connections] 1 セッションの接続数
           *[sessions] セッション数
        }が { $number }、同時に送る要求の数が { $depth } です。指定できる数は 1～{ $most } で、接続ごとに 1 つ以上の要求が必要です
    .usage-depth = 同時に送る要求の数が { $depth } です。指定できるのは 1～{ $most } です
    .usage-memory = 同時に送る要求に { $memory } バイトのメモリーが必要です
    .usage-request = 要求のサイズが { $bytes } バイトです。指定できるのは { $least }～{ $most } バイトです
    .usage-operation = 操作のサイズが { $bytes } バイトです。指定できるのは { $least }～{ $most } バイトです
    .usage-past-cache = キャッシュを経由しない操作のサイズが { $bytes } バイトです。{ $sector } の倍数でなければなりません
    .usage-past-cache-of-disk = キャッシュを経由しない操作のサイズが { $bytes } バイトです。このディスクでは { $least } の倍数でなければなりません
    .usage-file-below-request = テストファイルのサイズ { $bytes } バイトは、1 つの要求のサイズに足りません
    .usage-file-below-operation = テストファイルのサイズ { $bytes } バイトは、1 つの操作のサイズに足りません
    .usage-dialects = 最も古いダイアレクトの指定が、最も新しいダイアレクトの指定より新しくなっています
    .usage-algorithm = 指定した最も新しいダイアレクトは、そのアルゴリズムに対応していません
    .usage-operations = `operations` を指定できるのは、セッションが 1 つで、テストファイルの全体がランダムなデータ (`file` が `whole`) の場合だけです
    .usage-sparse = 書き込むファイルはスパースにできません
    .usage-path = `{ $path }` は絶対パスではありません
    .usage-no-mount = `{ $folder }` はマウントされた共有ではありません (ファイルシステム: { $file-system })
    .usage-no-disk = `{ $folder }` はディスク上ではなく { $file-system } 上にあります
    .usage-no-near = コピーに使うフォルダーがこのコンピューターに作成されていません
    .usage-copies-between-folders = { $program } はフォルダー間でコピーします。共有をマウントしたフォルダーを指定するか、タスクから `by` を除いてください
    .usage-reads-only = このタスクで指定できる方向は読み取りだけです
    .usage-writes-only = このタスクで指定できる方向は書き込みだけです
    .usage-other-bytes = サーバーから読み取った `{ $path }` の内容が、書き込んだ内容と一致しません
hint-measure =
    .recipe = `plans/recipes/` のレシピを参考にしてください。プリセットの一覧は `linerate bench --help` で確認できます
    .preset-as = `{ $example }` の形式で指定してください
    .connect = クライアントで `ip route get { $address }` を実行して、経路を確認してください
    .connect-refused = ポート { $port } で待ち受けているプログラムがありません。サーバーを起動するか、ポート番号を確認してください
    .connect-silent = ホストの電源が入っていること、アドレスが `{ $address }` であること、ファイアウォールがポート { $port } を許可していることを確認してください
    .nic = クライアントで `ip link show { $nic }` を実行して、インターフェイスが存在し、有効になっていることを確認してください
    .no-space = 空き容量を増やすか、より小さなテストファイルを指定してください
    .busy = 同時に実行できるテストは 1 つだけです。終わるまで待つか、`iperf3 -s -p PORT` で別のサーバーを起動してください
    .silent-server = サーバーは存在しますが、応答しません。ほかの利用者が使用していないか確認してください
    .server-output = 詳細は、サーバー側の iperf3 の出力で確認してください
    .protocol = サーバーで、バージョン 3.1 以降の iperf3 を `iperf3 -s` で起動してください
    .silence = 経路上のどこかで最大サイズのパケットが破棄されています。MTU が経路全体で同じであることを確認してください
    .nothing-to-read = 大きなファイルがある共有内のフォルダーか、書き込み権限のあるフォルダーを指定してください
    .no-file = 大きなファイルがある共有内のフォルダーを指定してください
    .no-fio = クライアントに `apt install fio`、`dnf install fio`、`pacman -S fio`、`brew install fio` のいずれかでインストールしてください。共有を `smb://HOST/SHARE` の形式で指定する場合は不要です
    .test-file = フォルダーが存在することと、書き込み権限があることを確認してください
    .no-iperf = そのホストに `apt install iperf3` でインストールしてください
    .run-iperf = サーバーで `iperf3 -s -p { $port }` を実行するか、`--server` でサーバーを指定してください
    .late = サーバーが応答するかどうかを確認してください
    .no-program = linerate をクライアントにインストールしてください。ほかのホストには不要です
    .same-version = 両方のホストの linerate が同じバージョンであることを確認してください
    .unknown-host = サーバー名のつづりを確認するか、名前の代わりにアドレスを使ってください
    .referred-here = その共有を使う場合は、共有を直接指定してください
    .port-closed = `{ $server }` でファイルサーバーが動作していることを確認してください。SMB の既定のポートは 445 で、今回はポート { $port } を使用しました
    .unreachable = ホストの電源が入っていることと、ファイアウォールがポート { $port } を許可していることを確認してください。経路はクライアントで `ip route get { $address }` を実行すると確認できます
    .login-refused = ユーザー名とパスワードを確認してください。`smbclient -L //{ $server } -U { $user }` で同じログインを試すことができます
    .guest-only = `{ $server }` にユーザー `{ $user }` は登録されていません。名前を確認するか、サーバーにユーザーを作成するか、`--guest` で接続してください (通信は保護されません)
    .shares = 次の共有があります: { $shares }
    .shares-more = 次の共有があります: { $shares } (ほか { $more } 個)
    .listed-share = `{ $share }` はサーバーの一覧にあります。サーバー上のフォルダーがないか、このユーザーがアクセスできない可能性があります
    .no-such-share = `{ $server }` の共有の一覧は、`linerate ls smb://USER@{ $host }` で確認してください
    .escaped-share = 空白などを含む名前は、そのまま指定してください。`{ $server }` の共有の一覧は、`linerate ls smb://USER@{ $host }` で確認できます
    .access-denied = 共有にテストファイルを作成します。共有への書き込み権限をユーザーに付与してください
    .access-denied-later = もう一度実行して、新しいセッションで試してください。それでも拒否される場合は、サーバーでユーザーのアクセス許可を確認してください
    .not-found = テストファイル用のフォルダーを共有に作成してください
    .local-disk-full = 空き容量を増やしてください。書きかけのファイルが、完成したファイルのように残っていることはありません
    .elsewhere = 代わりに次のサーバーを指定してください: { $targets }
    .or = { $first } または { $rest }
    .only-smb1 = サーバーで SMB 2 または 3 を有効にするか (Samba: `server max protocol = SMB3`)、サーバーのソフトウェアを更新してください
    .incompatible = `--dialect-min`、`--dialect-max`、`--sign`、`--encrypt` の要求を緩めるか、サーバーでその機能を有効にしてください
    .small-requests = サーバーが受け付ける要求のサイズを大きくしてください (Samba: `smb2 max read`、`smb2 max write`、`smb2 max trans`。既定値は 8 MiB)
    .connection-lost = サーバーとネットワークのどちらが切断したかは、サーバーのログで確認してください
    .no-realm = ユーザーを `user@REALM` の形式で指定するか、ドメインを指定してください
    .kdc-unreachable = `--kdc HOST` で別の KDC を指定してください。許可されている場合は、`--ntlm` で KDC を使わずにログインできます
    .kdc-name = `host` または `host:port` の形式で指定してください
    .full-name = 別名やアドレスではなく、ドメインに登録されているサーバーの完全な名前を使ってください
    .user-and-domain = ユーザー名とドメインを確認してください
    .password = パスワードを確認してください
    .clocks = このコンピューター、サーバー、KDC の時刻を合わせてください
    .new-password = パスワードを変更して、アカウントの AES 鍵を生成してください
    .ask-domain = ドメインの管理者に問い合わせてください
    .static-program = このプログラムは静的にリンクされており、ライブラリーを読み込めません。Debian パッケージをインストールするか、このシステムでビルドするか (`cargo install`)、パスワードでログインしてください
    .kerberos-library = MIT Kerberos (Debian では `libgssapi-krb5-2`、Fedora では `krb5-libs`) をインストールするか、パスワードでログインしてください
    .own-cache = 削除するか、KRB5CCNAME で自分のキャッシュを指定してください
    .not-asked-for = 使用する場合は、`--kerberos` を付けるか、KRB5CCNAME で指定してください
    .no-ticket = `kinit USER@REALM` でチケットを取得してください。現在のチケットは `klist` で確認できます
    .kdc-of-system = KDC は `krb5.conf` またはネームサービスで決まります。その両方と、KDC までのネットワークを確認してください
    .new-ticket = `kinit` でチケットを取得し直してください。サーバーの鍵が変更されたか、時刻がずれている可能性があります

## Labs

error-lab =
    .read-topology = 構成ファイル `{ $path }` を読み取れません
    .topology = { $origin }、{ $line } 行目: { $problem }
    .name = ラボの名前に `{ $name }` は使用できません: { $rule }
    .name-length = 名前の長さは 1～{ $most } 文字です
    .name-characters = 名前に使えるのは `a`～`z`、`0`～`9`、`-` です。英字で始め、末尾を `-` にしないでください
    .only-linux = ラボには Linux が必要です
    .not-root = ラボには root 権限が必要です
    .not-installed = ラボに必要なプログラム `{ $program }` がインストールされていません
    .name-taken = ラボ `{ $name }` はすでに動作しています
    .no-lab = ラボ `{ $name }` はありません
    .no-scenario = シナリオ `{ $name }` はありません
    .no-host = ラボ `{ $lab }` にホスト `{ $host }` はありません
    .starting = ラボ `{ $name }` は開始処理中です
    .no-share = ラボ `{ $lab }` には共有がありません
    .guest = `{ $host }` でマウントを使って実行できませんでした: { $said }
    .prepare-guest = `{ $subject }` 用のカーネルを準備できません
    .talk = ラボ `{ $name }` と通信できません
    .not-up = ラボ `{ $name }` を開始できませんでした: { $reason }
    .still-there = ラボ `{ $name }` を停止しましたが、{ $waited } 経過しても { $count } 個のプロセスが残っています: { $processes }
    .samba-silent = `{ $host }` の Samba サーバーが { $address } で応答しません ({ $refused })。ログの末尾: { $log }
    .samba-ended = `{ $host }` の Samba サーバーがすぐに終了しました。ログの末尾: { $log }
    .log-unreadable = 読み取れません ({ $problem })
    .find-file = `{ $subject }` の実行ファイルが見つかりません
    .this-program = このプログラム
    .start-supervisor = `{ $subject }` のスーパーバイザーを開始できません
    .look-for-processes = `{ $subject }` のプロセスを検索できません
    .list = `{ $subject }` の一覧を取得できません
    .reach = `{ $subject }` に接続できません
    .run-program = `{ $subject }` でプログラムを実行できません
    .close-inherited = `{ $subject }` が継承したファイル記述子を閉じることができません
    .report = ラボ `{ $subject }` の開始元に結果を報告できません
    .read-topology-of = `{ $subject }` の構成を読み取れません
    .leave-folder = `{ $subject }` の作業フォルダーを変更できません
    .show-group = `{ $subject }` のコントロールグループを表示できません
    .inject-fault = `{ $subject }` に障害を設定できません
    .serve-disk = ディスク `{ $subject }` を提供できません
    .make-tap = TAP デバイス `{ $subject }` を作成できません
    .set-link-modes = `{ $subject }` のリンクモードを設定できません
    .make-domain = `{ $subject }` にドメインを作成できません
    .await-users = `{ $subject }` のサーバーが、ドメインのユーザーを時間内に認識できませんでした
    .make-namespaces = `{ $subject }` の名前空間を作成できません
    .separate-files = `{ $subject }` のファイルを分離できません
    .read = `{ $subject }` を読み取れません
    .write = `{ $subject }` に書き込めません
    .random = `{ $subject }` から乱数を取得できません
    .the-kernel = カーネル
    .make-links = `{ $subject }` のリンクを作成できません
    .the-lab = ラボ
    .set-up-links = `{ $subject }` のリンクを設定できません
    .choose-congestion-control = `{ $subject }` の輻輳制御を選択できません
    .set-line-rate = `{ $subject }` の回線速度を設定できません
    .watch-links = `{ $subject }` のリンクを監視できません
    .keep-busy = `{ $subject }` に負荷をかけることができません
    .listen-for-traffic = `{ $subject }` で通信を待ち受けることができません
    .sweep-up = `{ $subject }` の後始末をするプロセスを開始できません
    .limit-host = コントロールグループ `{ $subject }` でホストを制限できません
    .start-delay-line = `{ $subject }` の遅延処理を開始できません
    .a-link = リンク
    .show-configuration = `{ $subject }` に Samba の設定ファイルを配置できません
    .add-user = `{ $subject }` にユーザーを追加できません
    .start-samba = `{ $subject }` で Samba を起動できません
    .make-samba-folders = `{ $subject }` に Samba のフォルダーを作成できません
    .make-samba-disk = `{ $subject }` に Samba のディスクを作成できません
    .find-device = `{ $subject }` のデバイスが見つかりません
    .hostless = ホストがありません
    .not-a-name = `{ $field } = { $given }` は正しい名前ではありません
    .unknown = `{ $field } = { $given }` は存在しません
    .taken = `{ $field } = { $given }` はすでに使われています
    .repeated = `{ $field } = { $given }` が重複しています
    .out-of-range = `{ $field } = { $given }` は範囲外です
    .not-a-size = `{ $field } = { $given }` は正しいサイズではありません
    .not-complete = `{ $field }` の記述が不足しています
    .host-and-switch = `{ $field }` にスイッチとホストの両方が指定されています
    .not-a-nic = `{ $field }.nic = { $given }` は NIC の名前に使用できません
    .not-of-a-host = `{ $field }.address = { $given }` はホストのアドレスではありません
    .not-a-rate = `rate = { $given }` は回線速度ではありません
    .needs-rate = `link.{ $field }` には `link.rate` が必要です
    .no-rate-of-nic = `link.could = { $given }` は NIC のリンク速度ではありません
    .rate-not-of-nic = `link.could` には、NIC のリンク速度を指定した `link.rate` が必要です
    .ring = `link` によってスイッチのループができます
    .same-nic = ホスト `{ $host }` に `{ $nic }` という名前の NIC が 2 つあります
    .same-address = アドレス `{ $address }` は、すでに `{ $host }` の `{ $nic }` で使われています
    .with-itself = `link` の両端がどちらも `{ $host }` です
    .other-subnet = `{ $one }` と `{ $other }` が同じサブネットにありません
    .no-link = `samba.host = { $given }` にリンクがありません
    .not-a-realm = `domain.realm = { $given }` は正しいレルムではありません
    .no-controller = `samba.host = { $given }` はドメインコントローラーにできません
    .not-of-memory = メモリー上の共有に `share.{ $field }` は指定できません
    .unknown-parameter = { $given } は、ラボで設定できる Samba のパラメーターではありません
    .not-of-parameter = `{ $parameter }` にこの値は指定できません
    .not-a-title = `lesson.title` は正しいタイトルではありません
    .too-many-hosts = ホストが { $count } 台あり、ラボの上限の { $limit } 台を超えています
    .too-many-switches = スイッチが { $count } 台あり、ラボの上限の { $limit } 台を超えています
    .too-many-links = リンクが { $count } 本あり、ラボの上限の { $limit } 本を超えています
    .too-many-faults = 障害が { $count } 個あり、ラボの上限の { $limit } 個を超えています
    .too-many-shares = 共有が { $count } 個あり、ラボの上限の { $limit } 個を超えています
    .too-many-parameters = パラメーターが { $count } 個あり、ラボの上限の { $limit } 個を超えています
    .too-many-users = ユーザーが { $count } 人あり、ラボの上限の { $limit } 人を超えています
    .too-many-causes = 原因が { $count } 個あり、ラボの上限の { $limit } 個を超えています
    .fault-runs = 障害でコマンドを実行することはできません: `fault.run` という項目はありません
    .several-faults = 1 つの `fault` に指定できる障害は 1 つですが、複数指定されています
    .no-fault = 1 つの `fault` には障害を 1 つ指定しますが、指定されていません
    .no-offload = `fault.offloads.off` が空です
    .unknown-sysctl = `fault.sysctl.key = { $given }` は、ラボで設定できるキーではありません
    .not-of-sysctl = `fault.sysctl.value` は `{ $key }` に指定できる値ではありません
    .not-a-tunnel = `fault.tunnel.nic = { $given }` はトンネルの名前に使用できません
    .routers = `fault.via.routers` に { $count } 個のアドレスが指定されています
    .traffic-to = `fault.traffic.to = "{ $address }"` は別のホストのアドレスではありません
    .half-turn = `fault.traffic` には `on_ms` と `off_ms` の両方が必要です
    .stops-elsewhere = `fault.stops` を指定できるのは `[samba]` のホストだけです
    .not-an-address = `fault.{ $field } = { $given }` はアドレスではありません
    .not-a-prefix = `fault.{ $field } = { $given }` は、プレフィックス長を付けたアドレスではありません
hint-lab =
    .not-root = `sudo` などを使って root として実行してください
    .install = `apt install { $package }` を実行してください
    .name-taken = `linerate lab down { $name }` で停止するか、新しいラボに別の名前を付けてください
    .no-lab = `linerate lab up FILE` で開始してください
    .use-one = 次のいずれかを指定してください: { $names }
    .scenarios = 各シナリオの問題は `linerate lab scenarios` で確認できます。{ $known }
    .no-scenario = シナリオはありません
    .no-host = ホストはありません
    .starting = 1 秒ほど待ってから、もう一度実行してください
    .no-share = 構成ファイルに `[samba]` と共有を追加してください
    .guest = `man mount.cifs` を参照して、マウントオプションを確認してください
    .fields = 使用できる項目は `examples/two-links.toml` を参照してください
    .leave-out = 一部を削除してください
    .add-host = `name` を指定した `[[host]]` を追加してください
    .add-link = そのホストへの `[[link]]` を追加してください
    .add-first = 先に追加してください
    .add-or-use = 追加するか、次のいずれかを指定してください: { $names }
    .another-name = 別の名前を使ってください
    .own-names = ホストとスイッチには、それぞれ異なる名前を付けてください
    .own = それぞれ異なる値を指定してください
    .range = { $least }～{ $most } を指定してください
    .give = { $least }～{ $most } を指定してください
    .processors = { $least }～{ $most } を指定してください。制限しない場合は省略してください
    .list = { $count } 個の数値のリストを指定してください。それぞれの範囲は { $least }～{ $most } です
    .size = `512MiB` や `4GiB` のように指定してください
    .rate = `100Mbit`、`1Gbit`、`2.5Gbit` など、`100Gbit` までの値を指定してください。制限しない場合は `rate` を省略してください
    .both-or-neither = 両方を指定するか、両方を省略してください
    .rate-of-nic = `10Mbit`、`100Mbit`、`1Gbit`、`2.5Gbit`、`5Gbit`、`10Gbit` のいずれかを指定してください
    .such-a-rate = `rate` に `10Mbit`、`100Mbit`、`1Gbit`、`2.5Gbit`、`5Gbit`、`10Gbit` のいずれかを指定してください
    .ring = ループを作るリンクを 1 本削除してください
    .two-ends = 2 台のホスト、またはホストとスイッチを指定してください
    .one-network = ケーブルの両端を同じネットワークにしてください
    .end = `{"{"} host = "...", nic = "...", address = "10.0.0.1/24" {"}"}` または `{"{"} switch = "..." {"}"}` の形式で指定してください
    .switch-alone = `{"{"} switch = "..." {"}"}` だけを指定してください
    .nic-name = 1～{ $most } 文字の英数字、`-`、`_` を使い、英字で始めてください。{ $taken } は使用できません
    .address-and-prefix = `10.77.1.1/24` のように、アドレスとプレフィックス長を指定してください
    .no-loopback = ループバックアドレスには、ほかのホストから接続できません。`10.77.1.1/24` のようなアドレスを指定してください
    .no-single-host = 1 台のホストに割り当てられるアドレスではありません。`10.77.1.1/24` のようなアドレスを指定してください
    .prefix-length = プレフィックス長は 1～30 ビット (IPv6 では 1～126 ビット) にしてください
    .realm = `LAB.EXAMPLE` のように、`A`～`Z`、`0`～`9`、`-` からなる 2 つ以上の部分で指定してください。最初の部分は最大 { $most } 文字です
    .controller = 名前は最大 { $most } 文字で、レルムの最初の部分と異なるものにしてください
    .disk = `medium = "disk"` を指定するか、`{ $field }` を削除してください
    .parameters = 設定できるものは docs/files.md に記載されています
    .parameters-alike = 設定できるものは docs/files.md に記載されています。たとえば { $names } があります
    .switch = `true` または `false` を指定してください
    .number = { $least }～{ $most } の数値を指定してください
    .word = 次のいずれかを指定してください: { $words }
    .words = 次から 1 つ以上を指定してください: { $words }
    .socket-options = 次から 1 つ以上を指定してください: { $switches }。{ $numbers } には `=` と数値を付けてください
    .interfaces = `"10.77.1.2/24;speed=1000000000,capability=RSS"` のように、アドレスを引用符で囲んで指定してください
    .log-level = 0～10 を指定するか、クラス ({ $classes }) に `:` と 0～10 を付けて指定してください
    .title = { $most } 文字以内の 1 行で記述してください
    .fault = `loss = {"{"} nic = "lan1", percent = 1.0 {"}"}` のように、`loss`、`block`、`rate`、`mtu`、`offloads`、`sysctl`、`address`、`route`、`via`、`tunnel`、`down`、`traffic`、`stops`、`busy` のいずれか 1 つを指定してください。詳細は docs/files.md を参照してください
    .offloads = `off = ["tso", "gro"]` のように、1 つ以上指定してください
    .tunnel = 1～15 文字の英数字、`-`、`_` を使い、英字で始めてください。ノードにある名前は使用できません
    .routers = 1～{ $most } 個指定してください
    .traffic-to = `[[link]]` のアドレスを指定してください
    .turns = 常に通信させる場合は、両方を省略してください
    .stops = `on` にそのホストを指定してください
    .address = `10.77.9.1` のようなアドレスを指定してください
    .prefix = `10.77.1.2/32` のように、両方を指定してください
