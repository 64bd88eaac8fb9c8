# Why a setting cannot be read or set, what keeps it as it is, what is remarkable about it, and what became of it.
# An argument that may be missing is "absent" then.

## On any system

error-knob =
    .no-answer = ホストから応答がありません
    .silent = コマンドが何も出力せずに失敗しました
    .unreadable = `{ $tool }` の出力を解釈できません
    .not-installed = そのホストに `{ $package }` がインストールされていません
    .none-such = そのホストにこの設定項目はありません
    .no-interface = インターフェイス `{ $nic }` はありません
    .no-such-interface = そのインターフェイスはありません
    .other-part = この設定項目は{ $own }のもので、{ $other }のものではありません
    .nic-name = ツールがこのインターフェイス名を正しく扱えません
    .share-name = Samba がこの共有名を正しく扱えません
    .mount-name = マウントはフォルダーのパスで指定する必要があります
    .no-place-at-start = システムの起動時にこの設定を適用させる場所を linerate は知りません
    .driver-unaware = ドライバーが対応していません
    .driver-silent = ドライバーから取得できません
    .driver-without = ドライバーに `{ $name }` がありません
    .always-set = この設定項目には必ず値があるため、未設定にはできません
    .impossible = その値であったはずがありません
    .only-put-back = 元に戻すことだけができます
    .switch = 指定できるのは `on` と `off` です
    .switch-of = 指定できるのは `on`、`off`、または `{ $parts }` のいずれかです
    .whole-number = 整数を指定する必要があります
    .one-of = 指定できるのは `{ $choices }` のいずれかです
    .at-least = 指定できるのは { $value } 以上です。{ $because }
    .at-most = 指定できるのは { $value } 以下です。{ $because }
    .bytes = { $count } バイトをコロン区切りの 16 進数で指定する必要があります
    .sizes = 3 つのサイズをバイト単位で、小さい順に指定する必要があります
    .processors = プロセッサの番号を指定する必要があります
    .processor-lists = プロセッサの番号を `0-3,8` の形式で、または名前ごとに指定する必要があります
    .one-processor = 少なくとも 1 つのプロセッサが処理する必要があります
    .no-processor = そのホストにプロセッサ { $number } はありません
knob-target =
    .host = ホスト
    .nic = インターフェイス
    .share = 共有
    .mount = マウント

## On Linux

error-linux =
    .no-queue = このインターフェイスにはキューがありません
    .no-smb-mount = `{ $folder }` に SMB 共有はマウントされていません
    .mount-option = マウントのオプション `{ $option }` を取得できません
    .needs = `{ $name }` が必要ですが、無効になっています
    .no-offloads = ドライバーにオフロード機能がありません
    .other-offloads = ドライバーのオフロード機能が以前のものと異なります
    .uneven-queues = 受信キューと送信キューの数が異なります
    .ring = ドライバーからキューの長さを取得できません
    .no-eee = リンクが EEE に対応していません
    .no-fields = このインターフェイスは、接続の振り分けにどのフィールドも使っていません
    .one-speed = ドライバーがほかの速度に対応していません
    .no-key = そのカーネルに `{ $key }` はありません
    .no-device = このインターフェイスは独立したデバイスではありません
    .no-governor = プロセッサのクロックを制御しているのはシステムではなく、ファームウェアまたはハイパーバイザーです
    .no-preference = プロセッサのクロックにこの優先設定はありません
    .no-interrupts = このインターフェイスは、専用の割り込みを持つデバイスではありません
    .no-choice = ドライバーでは選択できません
    .no-part = `{ $name }` はありません。あるのは `{ $all }` です
    .no-network = このインターフェイスには専用の IPv4 ネットワークがありません
    .networks = このインターフェイスには IPv4 ネットワークが複数ありますが、linerate が変更するのは 1 つだけの場合に限られます
    .route-options = このネットワークへの経路に、変更すると失われるオプションがあります
    .nic-number = インターフェイスの番号が大きすぎ、ルーティングテーブルを割り当てられません
    .samba-value = Samba の `{ $key }` を解釈できません
    .samba-share = Samba に共有 `{ $share }` はありません
    .samba-key = この Samba に `{ $key }` はありません
    .fstab-link = `{ $file }` はシンボリックリンクです。リンク先は別のプログラムが生成しています
    .fstab-none = `{ $file }` がありません
    .fstab-several = `{ $file }` に、このフォルダーの行が複数あります
    .fstab-password = `{ $file }` のこのフォルダーの行に、パスワードが書かれています
    .fstab-no-share = `{ $file }` のこのフォルダーの行は、SMB 共有をマウントするものではありません
    .fstab-elsewhere = `{ $file }` に、別の場所にある同じ名前のフォルダーの行があります。リンクを通じて同じフォルダーの可能性があります
    .fstab-odd = `{ $file }` のこのフォルダーの行を解釈できません
    .fstab-other = `{ $folder }` に SMB 共有をマウントする、パスワードを含まない行ではありません
    .testparm = `testparm` が `smb.conf` のエラーを報告しています: { $complaints }
    .no-ksmbd = `ksmbd` がありません
    .no-manager = そのインターフェイスを設定しているのは、linerate が対応している netplan、NetworkManager、ifupdown、udev のいずれでもありません
    .read-before = linerate のファイルより先に `{ $file }` が読み込まれ、読み込まれるのは 1 つだけです

## On Windows

error-windows =
    .no-speed = リンクの速度がありません。ダウンしているか、物理的なリンクではありません
    .no-network = このインターフェイスはどのネットワークにも属していません
    .no-ip = このインターフェイスでは IP が無効です
    .no-ipv4 = このインターフェイスでは IPv4 が無効です
    .smb-unused = SMB クライアントはこのインターフェイスを使用していません
    .own-value = ドライバーの `{ $keyword }` が独自の値です: `{ $value }`
    .step = ドライバーが受け付けるのは { $min } から { $step } 刻みの値です
    .no-rss = ドライバーが RSS に対応していません
    .queue-count = ドライバーからキューの数を取得できません
    .no-length = この値に合うフレーム長がドライバーにありません
    .no-property = この Windows に `{ $property }` はありません
    .untold = この Windows では取得できません
    .no-registry-key = レジストリにそのキーはありません

## On macOS

error-macos =
    .no-key = 現在のカーネルに `{ $key }` はありません
    .nsmb = `/etc/nsmb.conf` の `{ $key }` を解釈できません
    .smbutil = `smbutil` では取得できません
    .order = すべてのネットワークサービスを順番に並べて指定する必要があります
    .no-medium = ドライバーからメディアを取得できません
    .no-power = このマシンに電源モードはありません
    .no-command = macOS には、これを取得または変更するコマンドがありません
    .no-server-setting = macOS の内蔵サーバーにこの設定はありません。提供されているかどうかはクライアントで確認できます

## Why a value cannot be smaller or larger: behind "because" in English, a sentence of its own in other languages

knob-limit =
    .no-less-sense = これより小さい値には意味がありません
    .no-more-sense = これより大きい値には意味がありません
    .driver-least = ドライバーはこれより小さい値を受け付けません
    .driver-most = ドライバーはこれより大きい値を受け付けません
    .unknown-more = ドライバーがこれより大きい値に対応しているか確認できません
    .unknown-others = ドライバーがほかの値に対応しているか確認できません
    .hardware-most = ハードウェアの上限です
    .kernel-most = カーネルの上限です
    .windows-least = Windows はこれより小さい値を受け付けません
    .windows-most = Windows はこれより大きい値を受け付けません
    .ipv6 = IPv6 に必要な大きさです
    .ipv6-addresses = これより小さいと、Linux がインターフェイスの IPv6 アドレスを削除します
    .above = このインターフェイスの上に `{ $nic }` があり、その MTU が小さくなったまま元に戻らなくなります
    .below = このインターフェイスの下にある `{ $nic }` の MTU です
    .longest-packet = これより長い IP パケットはありません
    .burst = キューがないと、バーストがすべて失われます
    .delay = これより大きいと、遅延が増えるだけです
    .no-queue = キューがないと何も受信できません
    .no-descriptors = ディスクリプターがないと何も転送できません
    .nothing-below = これより小さい値はありません
    .somewhere = 受信したデータの行き先が必要です
    .queues-most = インターフェイスの受信キューの数です
    .nothing-nearer = これより近い経路はありません
    .no-farther = これより遠い経路はありません
    .none-at-all = 0 は「なし」を意味します
    .metric-zero = 0 はシステム自身が使う値です
    .no-sign = 符号のない値です
    .the-least = これが最小値です
    .no-more = これが最大値です

## Why a value cannot be changed

knob-fixed =
    .old-advice = TCP が自動で調整します。古い設定は `smb.conf` から手動で削除してください
    .read-at-start = サーバーは起動時にしか読み込みません。再起動すると、すべてのセッションが切断されます
    .protection = 保護のための設定のため、linerate は変更しません
    .driver = ドライバーが変更を許可していません
    .only-value = ドライバーはほかの値を受け付けません
    .one-queue = ハードウェアのキューが 1 つだけです
    .one-receive-queue = インターフェイスの受信キューが 1 つだけです
    .link-speed = リンクの両端が取り決めます。`nic.speed_duplex` を参照してください
    .medium = `nic.speed_duplex` で選ぶメディアに含まれています
    .mode = 現在のモードは、変更後に設定し直すことができません
    .table = テーブルが手動で書き込まれており、`ethtool` では元どおりに書き込めません
    .namespace = 設定できるのは、マシンの最初のネットワーク名前空間だけです
    .discipline = linerate 以外がオプション付きで設定しており、変更するとオプションが失われます
    .rule = このアドレスのルールが linerate 以外によって設定されています
    .mount = カーネルはマウント時にこの値を読み込み、プログラムがマウントを使用している間は変更できません
    .mounted = 共有をマウントしたときに、クライアントとサーバーが取り決めた値です
    .samba-elsewhere = Samba の設定ファイルは `{ $file }` で、linerate はこのファイルを編集しません
    .power-failure = この設定がないと、クライアントが書き込み済みとみなしたデータが停電で失われます
    .may-corrupt = データが破損する可能性があると、この機能自身のドキュメントが警告しています
    .last-word = `{ $file }` の設定が最後に適用されます
    .no-setting = インターフェイスを設定している `{ $program }` に、この設定はありません
    .released = リリース版のカーネルでは常に有効です
    .domain = ドメインが決定します
    .policy = グループポリシーが決定します
    .follows = `nic.rss` と `nic.channels` によって決まります
    .one-scheme = このマシンに電源プランはほかにありません
    .status = 設定ではなく、現在の状態です

## What else there is to know about a value

knob-remark =
    .feature = 有効にするよう要求されていますが、必要なほかの機能が無効です
    .eee = 有効ですが、接続先が対応していないため動作していません
    .resting = 動作していません: `{ $reason }`
    .discipline = カーネルが `{ $kind }` を選択しました
    .larger-one = `all` の値は { $all } で、大きいほうの値が使われます
    .metric = システムが { $metric } を選択しました
    .mtu = プロトコルスタックは { $now } まで送信しますが、ドライバーが受け付けるのは { $driver } までです
    .rdma = RDMA に対応しており、RSS より優先されます
    .mains = 電源アダプター接続時の `{ $word }` です
    .own-file = ユーザー自身のファイルでは `{ $word }` です

## What was never tried on the real system

knob-unproven =
    .windows = Windows の設定の読み取りと変更は、記録された出力とモデルに基づいて作られており、実際の Windows で実行されたことがありません
    .macos = macOS の設定の読み取りと変更は、公開されている報告とソースに基づいて作られており、実際の Mac で実行されたことがありません

## What a rule of a profile comes to

profile-verdict =
    .speed = 速度
    .round-trip = 往復時間
    .cores = プロセッサの数
    .mtu = MTU
    .not-known = { $what }が不明です
    .less = { $what }が { $is } で、{ $limit } 未満です
    .not-below = { $what }が { $is } で、{ $limit } 以上です
    .no-driver = ドライバーが不明です
    .other-driver = ドライバーが `{ $is }` で、`{ $wanted }` のいずれでもありません
    .for-client = クライアント用のルールです
    .for-server = サーバー用のルールです
    .no-knob = このシステムにこの設定項目はありません
    .no-nic = 設定の対象になるインターフェイスがありません
    .no-share = 設定の対象になる共有がありません
    .no-mount = 設定の対象になるマウントがありません
    .not-read = 読み取られていません
    .unlike = `{ $wished }` は `{ $now }` と形式が異なります
    .no-order = `{ $now }` と `{ $wished }` は大小を比較できません

## What became of a setting that was to be put back

undone =
    .report = { $place } (変更前は `{ $before }`{ $now ->
            [absent] {""}
           *[other] 、現在は `{ $now }`
        }): { $outcome }
    .next = { $first }; { $next }
    .as-before = 変更前のままです
    .put-back = 元に戻しました
    .sibling-put-back = 変更に伴って変わったため、元に戻しました
    .set-by-others = linerate 以外が変更したため、そのままにしました
    .restarted = その後、ホストが再起動されています
    .other-machine = 現在応答しているのは別のマシンです
    .would-put-back = 元に戻します
    .unknown-knob = このプログラムの知らない設定項目です
    .not-read = 読み取れません
    .not-as-before = 読み取った値が変更前と異なります
