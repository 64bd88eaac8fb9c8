# What is concluded of a run: the answer, the causes, the remedies.
# An argument that may be missing is "absent" then.

## The answer

headline =
    .unmeasured = 共有を測定できませんでした: { $reason }
    .contradiction = { $cause }
    .loses-proven = { $cause }。{ $loss }{ $gain ->
            [absent] {""}
           *[other] 。{ $gain }
        }
    .loses-suspected = { $loss }。疑い: { $cause }。判定するには: { $decides }
    .loses-unknowable = { $loss }。次が原因かどうかは、ここからは判定できません: { $cause }。判定するには: { $needs }
    .loses-unexplained = { $loss }。原因は不明です
    .client-itself = { $loss }。マウントオプションには、これほど速度を下げると知られているものがありません。クライアント自体か、測定していない要因によるものです
    .network-or-server = { $loss }。TCP 単体を測定していないため、原因がネットワークとサーバーのどちらにあるかは、ここからは判定できません。判定するには: { $decides }
    .one-connection = { $loss }。複数の接続では { $floor } 出るため、接続ごとに制限がかかっています。制限しているのは、サーバー側のプロセスか経路です。判定するには: { $decides }
    .server-loses = { $loss }。ネットワークはリンクの上限まで速度が出るため、原因はサーバー側かセッションにあります。具体的な原因は不明です
    .crowded = 速度低下がありますが、{ $host } の CPU が常に飽和していたため、場所を特定できません。このホストでほかの処理が動いていないときに、チェックを再実行してください
    .cannot-tell = まだ判定できません: { $loss }。判定にはあと { $blocks } ブロック必要です (`--thorough`)
    .too-near = 判定できません: { $loss }。試行ごとの速度のばらつきが大きく、5 % 以上の低下かどうかを区別できません
    .varies = 判定できません: { $loss }。試行ごとに速度がばらついており、断続的な要因の影響を受けています。時間をおいてチェックを再実行してください
    .found = { $cause }{ $gain ->
            [absent] {""}
           *[other] 。{ $gain }
        }
    .suspected = 疑い: { $cause }。判定するには: { $decides }
    .maybe = 疑い: { $cause }
    .full = リンクの帯域を使い切っており、速度低下はありません。共有の速度は{ $read ->
            [absent] {""}
           *[other] 、読み取り { $read }
        }{ $write ->
            [absent] {""}
           *[other] 、書き込み { $write }
        } で、{ $line ->
            [absent] リンク
           *[other] { $line } のリンク
        }の上限の { $share } です{ $unused ->
            [absent] {""}
           *[other] 。{ $unused }
        }
    .well = 速度低下はありません。共有の速度は{ $read ->
            [absent] {""}
           *[other] 、読み取り { $read }
        }{ $write ->
            [absent] {""}
           *[other] 、書き込み { $write }
        }{ $share ->
            [absent] {""}
           *[other] {" "}で、リンクの上限の { $share }
        } です{ $unused ->
            [absent] {""}
           *[other] 。{ $unused }
        }
    .no-ceiling = 共有の速度は{ $read ->
            [absent] {""}
           *[other] 、読み取り { $read }
        }{ $write ->
            [absent] {""}
           *[other] 、書き込み { $write }
        } です。リンクの上限は不明です{ $unused ->
            [absent] {""}
           *[other] 。{ $unused }
        }
    .incomplete = 測定した範囲では速度低下はありません。共有の速度は{ $read ->
            [absent] {""}
           *[other] 、読み取り { $read }
        }{ $write ->
            [absent] {""}
           *[other] 、書き込み { $write }
        }{ $share ->
            [absent] {""}
           *[other] {" "}で、リンクの上限の { $share }
        } です{ $unused ->
            [absent] {""}
           *[other] 。{ $unused }
        }
    .one-link-idle = クライアントとサーバーは、{ $usable } 本のリンクのうち { $used } 本しか使っていません。すべてを同時に使うと速度は { $gain } になります{ $direction ->
            [absent] {""}
           *[other] {" "}({ $direction })
        }
loss =
    .tcp = TCP 単体 ({ $direction }) の速度は、リンクの上限の { $share }{ $low ->
            [absent] {""}
           *[other] {" "}[{ $low }, { $high }]
        } です ({ $whole } に対して { $rate })
    .share = 共有 ({ $direction }) の速度は、TCP 単体の { $share }{ $low ->
            [absent] {""}
           *[other] {" "}[{ $low }, { $high }]
        } です ({ $whole } に対して { $rate })
    .share-of-link = 共有 ({ $direction }) の速度は、リンクの上限の { $share }{ $low ->
            [absent] {""}
           *[other] {" "}[{ $low }, { $high }]
        } です ({ $whole } に対して { $rate })
    .channels = 複数チャネルでの共有 ({ $direction }) の速度は、使用中の全リンクの上限の { $share }{ $low ->
            [absent] {""}
           *[other] {" "}[{ $low }, { $high }]
        } です ({ $whole } に対して { $rate })
    .disk = サーバーのディスクからの読み取り速度は、メモリーからの読み取りの { $share }{ $low ->
            [absent] {""}
           *[other] {" "}[{ $low }, { $high }]
        } です ({ $whole } に対して { $rate })
    .system-client = システムの SMB クライアント ({ $direction }) の速度は、同じ共有での linerate の { $share }{ $low ->
            [absent] {""}
           *[other] {" "}[{ $low }, { $high }]
        } です ({ $whole } に対して { $rate })
gain = この原因を取り除くと速度は { $gain }{ $low ->
        [absent] {""}
       *[other] {" "}[{ $low }, { $high }]
    } になります
links-unused = 未使用のリンク: { $links } 本

## What decides

decide =
    .probe = `--thorough` を付けてチェックを再実行してください
    .all-links = リンクごとに `iperf3` を同時に実行するか、共有しているスイッチを経由せずに接続してください
    .raw-tcp = サーバーで `iperf3 -s` を実行するか、`--server HOST` でサーバーを指定してから、チェックを再実行してください
    .raw-tcp-here = サーバーで `iperf3 -s` を実行したままにして、チェックを再実行してください
    .server = `--server HOST` でサーバーを指定してください (サーバーのカウンターを読み取れるようになります)
    .tune = `linerate tune` で対策を試してください (効果があれば設定を残します)
    .cheaper-cipher = `--thorough` を付けてチェックを再実行してください。サーバーが AES-GCM を拒否する場合は、先にサーバーで AES-GCM を使えるようにしてください
    .elsewhere = もう一方のアドレスで共有をチェックしてください
    .mount-so = このオプションでマウントし、そのフォルダーをチェックしてください
    .mount-again = root 権限でこのチェックを繰り返すか、このオプションに `nosharesock` を加えて別のフォルダーにもう 1 つマウントし、そのフォルダーをチェックしてください
    .quiet-time = そのネットワークにあるほかの機器を停止して、チェックを再実行してください
    .cable = 有線で接続して、チェックを再実行してください
    .iw = `iw dev NIC station dump` で再送回数を確認してください
    .without-tunnel = トンネルを使わずに、チェックを再実行してください
    .two-sessions = 2 チャネルの使用中に、両方の NIC の転送バイト数を確認してください
    .pause-off = 片側のフロー制御を無効にして、チェックを再実行してください
    .socket-options = `smb.conf` からこのオプションを外し、Samba を再起動してから、チェックを再実行してください
    .ss-at-server = 共有からの読み取り中に、サーバーの `ss -ti` で送信バッファーを確認してください
    .without-sync = `sync always = no` に変更して、チェックを 1 回だけ再実行してください (停電で失われて困るファイルがないときに限ります)
    .sync-writes = サーバーで、`testparm -s` の `sync always` と、データセットの `sync` (ファイルシステムが書き込み完了を待つかどうか) を確認してください
    .power-plan = サーバーで `powercfg /getactivescheme` を実行してください
    .flow-hash = 複数の接続での転送中に、経路上のボンディングとルーターの各ポートのカウンターを確認してください
    .antivirus = 共有の使用中に、ウイルス対策ソフトの CPU 時間を確認してください
needs =
    .server = `--server HOST` でサーバーを指定してください
    .served = `--server HOST` でサーバーを指定し、サーバーのプロセスが 1 バイトあたりに使う CPU 時間を測定してください

## Causes: path

path-mtu-black-hole = `{ $nic }` と `{ $remote }` の間で、{ $most } バイトを超えるパケットが通知なしに失われます。両端は { $wanted } バイトまで送信します。{ $who }
    .one-way = `{ $nic }` と `{ $remote }` の間で、{ $most } バイトを超えるパケットが通知なしに失われます。両端は { $wanted } バイトまで送信します (サーバー方向で確認。このサイズのエコー要求には応答がありません)。{ $who }
hole =
    .this-end = 破棄しているのはこちら側です: { $why }
    .far-end = 破棄しているのは相手側です: { $why }
    .between = 消去法により、破棄しているのは両者の間にある機器 (MTU の小さいスイッチなど) です{ $because ->
            [absent] {""}
           *[other] { $because }
        }{ $also ->
            [absent] {""}
           *[other] { $also }
        }
    .probably-between = 破棄しているのは、おそらく両者の間にある機器 (MTU の小さいスイッチなど) です{ $because ->
            [absent] {""}
           *[other] { $because }
        }{ $also ->
            [absent] {""}
           *[other] { $also }
        }
    .between-or-far = 破棄しているのは、両者の間にある機器か相手側の NIC です{ $because ->
            [absent] {""}
           *[other] { $because }
        }{ $direction ->
            [absent] {""}
           *[other] { $direction }
        }。{ $how }
    .near-or-between = 破棄しているのは、こちら側の NIC か両者の間にある機器です{ $because ->
            [absent] {""}
           *[other] { $because }
        }{ $direction ->
            [absent] {""}
           *[other] { $direction }
        }。{ $how }
    .anywhere = 破棄しているのは、こちら側の NIC、両者の間にある機器、相手側の NIC のいずれかです{ $because ->
            [absent] {""}
           *[other] { $because }
        }{ $direction ->
            [absent] {""}
           *[other] { $direction }
        }。{ $how }
    .because = 。{ $why }
    .from-one-end = 片側からは区別できません。`--server` を指定すると、さらに絞り込めます
    .not-told-apart = どれであるかを区別できる情報はありません
    .to-server-only = 。失われるのはサーバー方向のパケットだけです
    .to-client-only = 。失われるのはクライアント方向のパケットだけです
    .nic-passes = `{ $nic }` は `{ $remote }` との間で { $bytes } バイトのパケットを送受信できています
    .far-passes = `{ $remote }` の NIC は `{ $nic }` との間で { $bytes } バイトのパケットを送受信できています
    .short-port = { $host } の `{ $nic }` に属するポート `{ $port }` の MTU は { $mtu } で、`{ $nic }` 自体の MTU は { $own } です
    .refused = { $size } バイトのパケット { $sent } 個の送信中に、{ $host } の `{ $nic }` で不正なパケットが { $refused } 個計上されました
link-trained-low = { $host } の `{ $nic }` は { $speed } でリンクアップしていますが、ケーブルの両端は { $both } に対応しています
wifi-used = { $host } は Wi-Fi (`{ $nic }`) で送信しています。その先の回線ではなく、無線区間がボトルネックになっている可能性があります
    .cable = { $host } は Wi-Fi (`{ $nic }`) で送信しており、{ $rate } の有線 `{ $cable }` は使われていません
wifi-retries = { $host } の Wi-Fi (`{ $nic }`) の速度が試行ごとにばらついています。フレームの再送が繰り返されている可能性があります
tunnel-used = { $host } はトンネル { $tunnel } 経由で送信しています。トンネルは別の回線の上を通り、パケットごとに余分な処理がかかります
    .needless = { $host } はトンネル { $tunnel } 経由で送信していますが、`{ $nic }` は `{ $remote }` と同じサブネットにあります
slow-link =
    .end = { $host } の `{ $nic }` のリンク速度は { $slow } ですが、経路のもう一方の端は { $good } です
    .end-by-word = サーバーの通知では `{ $remote }` の NIC は { $slow } で、実測速度もすべてこれと一致します。`{ $nic }` は { $good } です
    .hop = 両方向とも、速度が { $rate } の回線の上限とちょうど一致しています。`{ $nic }` と `{ $remote }` の間に { $rate } の区間があります
    .hop-of-queue = 読み取りの速度が { $rate } の回線の上限とちょうど一致し、パケットはネットワーク内のキューで待たされています。`{ $nic }` と `{ $remote }` の間に { $rate } の区間があります
    .hop-of-channel = 複数のチャネルで使われる `{ $nic }` から `{ $remote }` へのリンクは、ちょうど { $rate } の回線と同じ速度で転送しています。経路の途中にその速度の区間があります
    .shared-hop = 全リンクの合計が、両方向とも { $rate } の回線 1 本の上限とちょうど一致しています。スイッチかサーバーのどこかで 1 本の回線に集まっている可能性があります
    .among-others = リンク { $pair } は { $slow } ですが、クライアントとサーバーの間には { $good } のリンクもあります
    .among-used = リンク { $pair } は { $slow } ですが、クライアントとサーバーの間の別のリンクでは { $good } 出ています
rate-limited = 経路上のどこかで速度が { $rate } に制限されています ({ $direction })。速度は一定で、パケットロスはありません
    .shaper = { $host } の `{ $nic }` のシェーパーが、{ $line } の回線を { $rate } に制限しています
    .shaper-alone = { $host } の `{ $nic }` のシェーパーが、速度を { $rate } に制限しています。この速度の回線規格は存在しません
    .queue = 読み取り時に、パケットがネットワーク内のキューで { $wait } 待たされています。サーバーが遅いだけなら、キューは空になるはずです。途中の区間か、そこを通るほかの通信が、速度を { $rate } に制限している可能性があります
    .shaper-one-way = { $host } の `{ $nic }` のシェーパーが、送信を { $rate } に制限しています。受信速度はこれを大きく上回っています
    .clock = 書き込み時に、TCP は時間の { $waited } をネットワーク待ちに費やしていますが、パケットロスはありません。途中の区間か、そこを通るほかの通信が、速度を { $rate } に制限している可能性があります
faster-path-unused = 共有への接続には { $current } ({ $used }) が使われており、より高速な { $pair } ({ $rate }) は使われていません
    .back = 接続元の NIC は `{ $fast }` ({ $fast_rate }) ですが、サーバーからのデータは `{ $slow }` ({ $slow_rate }) に届いています。戻りの経路が異なります
two-nics-one-subnet = { $host } の `{ $one }` と `{ $other }` が同じサブネットにあるため、一方の NIC が両方の通信を処理しています{ $sender ->
        [absent] {""}
       *[other] { $sender }
    }
sends-by = 。ルーティングにより、すべて `{ $nic }` から送信されます
mtu-differs = リンクの両端で MTU が異なります: `{ $near }` は { $near_mtu }、`{ $far }` は { $far_mtu } です
offloads-off = { $host } の `{ $nic }` のオフロードが無効なため ({ $knobs })、セグメントの処理を CPU が行っています。リンクが高速で、フレームは { $mtu } バイトと小さめです
rss-off = { $host } では 1 つのコアが `{ $nic }` の全パケットを処理しており、そのコアの使用率が上限に達しています
other-traffic = `{ $nic }` を通る通信の { $share } は、ほかのプログラムのものです
    .elsewhere = チェックが何も送信していないときも、パケットが経路上で { $least }～{ $most } 待たされています。接続を増やしたときの速度の伸びも、ほかの通信で埋まったリンクを分け合う場合と一致します
    .now-and-then = 1 本の接続 ({ $direction }) の速度が、リンクの上限に達する時間帯と、その { $part } にとどまる長い時間帯とに分かれます。経路上かサーバーで、ほかの処理が断続的に動いています
    .perhaps = ほかの機器がサーバーのリンクを使い切っている可能性があります (サーバーの NIC を見れば分かります)
segments-lost =
    .tcp = TCP 単体 ({ $direction }) のセグメントの { $share } が再送されました。経路上でパケットロスが発生しています
    .share = 共有 ({ $direction }) のセグメントの { $share } が再送されました。経路上でパケットロスが発生しています
    .single = 共有 ({ $direction }) のセグメントの { $share } が再送されました。小さな要求を 1 つずつ送るときにも再送があり、これはキューあふれでは起きません。経路上でパケットロスが発生しています
    .overtaken = サーバーが送ったセグメントの { $share } が、順序どおりに届いていません。先に送られたセグメントが、失われたか追い越されています
    .stops = 読み取りは 0.2 秒以上止まっては、またリンクの上限の速度に戻ります。書き込みは止まりません。まとまって送られたセグメントの末尾が失われている可能性があります
    .channel = `{ $nic }` から `{ $remote }` へのチャネルで、セグメントの { $share } が失われています ({ $direction })
pause-frames = { $host } の NIC でポーズフレームが毎秒 { $pauses } 個計上されています。受信側かスイッチが送信を止めています
flow-hash = { $host } のボンディング `{ $nic }` は、すべての接続を 1 つのポートから送信しています
    .by-chance = 2 接続を同時に使ったときの速度 ({ $direction }) が、1 接続と同じ場合と、それを大きく上回る場合とに分かれます。複数のリンクのどれを通るかは、接続ごとに偶然決まります
    .connections = 同じセッションの 2 接続の速度 ({ $direction }) は、1 接続の { $gain } です。1 接続の速度は一定で、パケットロスもありません。経路上で接続ごとに制限がかかっています
    .streams = TCP 単体 ({ $direction }) の複数ストリームの速度は、1 ストリームの { $gain } です。1 ストリームの速度は一定で、パケットロスもありません。経路上で接続ごとに制限がかかっています
receive-buffer-small = { $host } の受信バッファーは最大 { $most } ですが、リンクの帯域を使い切るには転送中のデータが { $needed } 必要です ({ $direction })
    .scaling = { $host } のウィンドウスケーリングが無効なため、往復時間 { $round_trip } の経路で、転送中のデータが 64 KiB までに制限されています
    .tuning = { $host } の受信ウィンドウ自動チューニングが無効です ({ $direction })。受信バッファーは { $first } のまま増えませんが、リンクの帯域を使い切るには転送中のデータが { $needed } 必要です
    .options = サーバーの `smb.conf` の `socket options` が受信バッファーを { $size } に固定しており ({ $direction })、TCP の自動調整が働きません
    .tiny = サーバーの受信ウィンドウが { $window } を超えません。`smb.conf` の `socket options` か `tcp_rmem` によって、受信バッファーが小さく制限されています
    .full = サーバーの受信バッファーが転送中のデータで埋まっています。経路を使い切るには { $path } 必要です
send-buffer-small = { $host } の送信バッファーは最大 { $most } ですが、リンクの帯域を使い切るには転送中のデータが { $needed } 必要です ({ $direction })
    .options = サーバーの `smb.conf` の `socket options` が送信バッファーを { $size } に固定しており ({ $direction })、TCP の自動調整が働きません
    .flight = サーバーはすぐに応答しますが、サーバーからの転送中のデータが { $flight } を超えません。この経路に対して、サーバーの送信バッファーが小さすぎる可能性があります

## Causes: processors

processor-limit = { $host } のプロセスが、CPU 使用量の制限により時間の { $stopped } にわたって停止していました
client-processor = クライアント自身の CPU がボトルネックです。チャネルごとに 1 コアの { $busy } を使っています
server-processor = サーバーが遅い可能性があります。TCP 単体は速いのに、共有は両方向とも遅くなっています
    .core = 共有の使用中に、{ $host } の 1 つのコアの使用率が上限に達しています
    .bursts = 往復時間が短くパケットロスもない経路で、両方向とも転送が断続的です。サーバーに割り当てられた CPU 時間が不足している可能性があります
    .session = サーバーの 1 つのプロセスが CPU を使い切っている可能性があります。セッションを 2 つにすると速くなりますが、同じセッションの接続を 2 本にしても速くなりません。経路は往復時間が短くパケットロスもありません
    .connection = サーバーの 1 つのプロセスが CPU を使い切っている可能性があります。セッションを 2 つにすると速くなり、経路は往復時間が短くパケットロスもありません
    .process = サーバーの 1 つのプロセスがセッションの全要求を処理しており、CPU を使い切っています。セッションを 2 つにすると速くなりますが、TCP 単体を 2 ストリームにしても速くなりません
cpu-stolen = ハイパーバイザーが、{ $host } の 1 コアの時間の { $stolen } をほかに割り当てています
power-plan = 負荷がかかっても、{ $host } の CPU が { $megahertz } MHz でしか動作していません
    .awake = { $host } の CPU が、パケットの合間に省電力状態に入っています
antivirus = 共有の使用中に、{ $host } でファイルサーバー以外のプログラムが 1 コアの { $busy } を使っています。ウイルス対策ソフトによく見られる動作です

## Causes: SMB

old-dialect = サーバーは SMB { $dialect } にしか対応していません (1 チャネルのみ、暗号化なし)
    .small = サーバーは SMB { $dialect } にしか対応していません (要求は 64 KiB まで、1 チャネルのみ、暗号化なし)
few-credits = サーバーが付与するクレジットが { $credits } のため、転送中のデータが { $bytes } までに制限されています
small-requests = サーバーが受け付ける要求 ({ $kinds }) のサイズは最大 { $bytes } です。ほかのサーバーは 8 MiB まで受け付けます
small-requests-here = サーバーが受け付ける要求 ({ $kinds }) のサイズは最大 { $bytes } です。複数の要求を同時に送れば影響はありませんが、要求ごとに応答を待つプログラムは遅くなることがあります
encryption = 通信がすべて { $cipher } で暗号化されています
signing = データがすべて { $algorithm } で署名されています
asynchronous-io = サーバーが要求を 1 つずつ順に処理しています (`{ $knobs }` の設定)。ディスク待ちのたびに、すべての要求が待たされます
    .in-turn = 読み取りに問題はなく、書き込みだけに待ち時間があります。セッションを 2 つにすると書き込み速度は { $gain } になります。サーバーがセッションごとに書き込みを 1 つずつ処理している可能性があります

## Causes: storage

sync-writes = 書き込みのたびにディスクへの反映を要求しても、遅くなりません。サーバーが常に同期書き込みを行っている可能性があります
    .small-files = 小さなファイルの書き込みには { $write }、読み取りには { $read } かかります。書き込みのたびにサーバーのディスクを待っています
    .setting = サーバーは、書き込みをディスクに反映してから応答しています (`sync always`)
server-disk =
    .one-block = サーバーのディスクが書き込みに追いついていません。同じ 1 ブロックに繰り返し書き込むと、速度は { $gain } になります
    .writes = サーバーの速度は、書き込みが { $write }、メモリーからの読み取りが { $read } です。ディスクが遅い可能性があります
    .waits = 共有への書き込み中 ({ $write }) は、サーバーのプログラムが常にディスクを待っています。メモリーからの読み取り中は待っていません
    .reads = 最近使われていないファイルの読み取り速度は { $disk } で、サーバーのメモリーからの読み取り ({ $memory }) の { $share } です
    .cold = サーバーのメモリーにないファイルの読み取り速度は { $disk } で、メモリーからの読み取り ({ $memory }) の { $share } です。サーバーのディスクが遅いためです
local-disk = { $place } へのコピーの速度は { $copy } で、共有の速度の { $share } です。クライアントのこのディスクが遅いためです

## Causes: channels

port-blocked = `{ $nic }` 経由で `{ $remote }` からの応答はありますが、ファイルサーバーのポートは応答しません。ファイアウォールに遮断されているか、サーバーがこのアドレスで待ち受けていません
multichannel-off = リンクが { $links } 本ありますが、サーバーが SMB マルチチャネルを提供していません
    .perhaps = サーバーが SMB マルチチャネルを提供していません。`{ $nic }` もサーバーにつながっている場合、そのリンクは使われません
advertised-wrong =
    .perhaps = サーバーが通知した `{ $address }` につながる NIC がこのクライアントになく、`{ $nic }` からつながるアドレスは通知されていません。`{ $nic }` がサーバーへのリンクなら、通知の内容が誤っています
    .perhaps-unlisted = サーバーの通知には、`{ $nic }` からつながるアドレスがありません。`{ $nic }` がサーバーへのリンクなら、通知に漏れがあります
    .exceeded = サーバーの通知では `{ $address }` は { $said } ですが、実際の転送はそれを超えました。クライアントは通知された速度でチャネルを選びます
    .speed = サーバーの通知では `{ $address }` は { $said } ですが、実際は { $real } です。このため、Windows と macOS はもう一方のリンクを使いません
    .doubted = サーバーの通知では `{ $address }` は { $said } ですが、こちら側の `{ $nic }` は { $own } です。サーバーの NIC も同じ速度なら、通知の内容が誤っており、Windows と macOS はこのリンクを使いません
    .rss = サーバーの通知では、`{ $one }` は RSS に対応し、`{ $other }` ({ $speed }) は対応していません。このため、Windows は `{ $other }` を使いません
    .unlisted = サーバーは `{ $nic }` の `{ $remote }` を通知していません{ $instead ->
            [absent] {""}
           *[other] { $instead }
        }。このため、Windows と macOS は `{ $nic }` へのリンクを使いません
lists-foreign = 。代わりに、サーバーに存在しない `{ $address }` を通知しています
one-link-idle =
    .dead = `{ $nic }` から `{ $remote }` へのリンクが通じていません。相手側から応答がありません

## Causes: the system's own client

mount-old-dialect = マウント `{ $mount }` の通信は SMB { $dialect } ですが、サーバーは linerate とは { $newer } で通信します
mount-sync = マウント `{ $mount }` に `sync` オプションがあります。書き込みは、直前の書き込みがサーバーに届くまで待たされます
mount-cache-off = マウント `{ $mount }` に `cache=none` オプションがあります。プログラムは読み書きのたびに応答を待ち、先読みも行われません
mount-small-requests = マウント `{ $mount }` の 1 回の要求は { $bytes } バイトですが、サーバーはこれより大きい要求を受け付けます
mount-one-connection = マウント `{ $mount }` の接続は 1 本ですが、{ $channels } 本を同時に使う方が速くなります

## Causes: where and not why

measured-above-ceiling = 共有 ({ $direction }) の速度 { $rate } が、使用中の NIC の上限 { $ceiling } を超えています。リンクの情報が実際と異なるか、データが別の経路を通っています
    .tcp = TCP 単体 ({ $direction }) の速度 { $rate } が、使用中の NIC の上限 { $ceiling } を超えています。リンクの情報が実際と異なるか、データが別の経路を通っています
tcp-slower-than-ceiling = TCP 単体 ({ $direction }) の速度は、使用中の NIC の上限の { $share } です ({ $whole } に対して { $rate })
share-slower-than-tcp = 共有 ({ $direction }) の速度は、同じ経路の TCP 単体の { $share } です ({ $whole } に対して { $rate })

## Remarks

link-saturated = リンクの帯域を使い切っています。共有の速度は上限の { $share } です
links-of = クライアントとサーバーは、{ $usable } 本のリンクのうち { $used } 本を使っています
network-at-least = ネットワーク ({ $direction }) は少なくとも { $rate } 出ます (複数のセッション、要求、ファイルで測定した最高値)。TCP 単体は測定していません
facts-missing = 取得できなかった情報: { $facts }
silent-address = サーバー名に登録されている { $addresses } が応答しません。接続のたびに最初に試されるため、DNS または `hosts` から削除してください
jumbo-neighbours = `{ $nic }` は { $tried } バイトまでのパケットを送信しますが、同じセグメントの { $neighbours } が応答するのは { $answered } バイトまでです。それより大きい TCP 以外のパケットは通知なしに失われます
over-wifi = { $host } は Wi-Fi (`{ $nic }`) で送信しています。有線のほうが安定し、多くの場合は高速です
    .cable = { $host } は Wi-Fi (`{ $nic }`) で送信しています。有線 `{ $cable }` は使われていませんが、Wi-Fi より高速ではありません
through-tunnel = { $host } はトンネル { $tunnel } 経由で送信しています。トンネルは別の回線の上を通り、パケットは { $mtu } バイトまでです
through-bridge = { $host } はブリッジ `{ $nic }` 経由で送信しています (ポート: { $ports })
wifi-beside-cable = { $host } は `{ $nic }` で送信しており、Wi-Fi `{ $wifi }` は使われていません
disk-cold = ディスク: ファイルがサーバーのメモリーにまったくないことを確認済みです
disk-unknown = ディスク: 共有のファイルを 1 回読み取りました。キャッシュの状態は不明で、サーバーのメモリーから読み取られた可能性があります
copy-to = コピー: サーバーのメモリーから { $place } へコピーし、すべてがそのディスクに書き込まれるまでの速度です

## Remedies

fix =
    .none = 対策は不明です
    .mtu-of-switch = { $what }。解決するまでは、両端の MTU を { $most } に設定してください
    .switch-mtu = 両者の間にあるスイッチの MTU を { $wanted } 以上に設定してください
    .switch-or-nic = { $switch }。それで解決しない場合は、NIC を確認してください
    .port-mtu = { $host } の `{ $port }` の MTU を、`{ $nic }` と同じ { $wanted } に設定してください
    .look-at-nic = { $host } の `{ $nic }` を確認してください (ドライバーと、設定どおりに大きなフレームを受信できるか)
    .retrain = `{ $nic }` のケーブルを交換するか、スイッチの別のポートに接続してください。ケーブルの芯線が断線している可能性があります
    .use-cable = { $host } を有線で接続してください。有線にできない場合は、アクセスポイントに近づけ、5 GHz 帯または 6 GHz 帯を使ってください
    .cable-for-wifi = { $host } で有線が使われるようにしてください。Wi-Fi を無効にするか、`{ $cable }` のルートのメトリックを `{ $nic }` より小さくしてください
    .wifi-retries = アクセスポイントに近づけるか、5 GHz 帯または 6 GHz 帯の空きチャネルを使ってください
    .around-tunnel = 両者が同じネットワークにある場合は、トンネルを使わずにサーバーに接続してください。そうでない場合は、トンネルの両端の CPU を確認してください
    .around-needless-tunnel = `{ $remote }` にはトンネル { $tunnel } ではなく `{ $nic }` で接続してください。ローカルネットワークをトンネルの対象から除外するか、このアドレスを使ってください
    .cable = { $host } の `{ $nic }` のケーブルを交換してください。おそらくケーブルの芯線が断線しています
    .cable-of-pair = { $pair } のケーブルを交換してください。おそらくケーブルの芯線が断線しています
    .shared-hop = 各リンクに専用の経路を用意してください。スイッチ間のアップリンクと、サーバーが使っている NIC の数を確認してください
    .slow-hop = 経路上のスイッチの各ポートとサーバーの NIC を確認してください。本来より低速でリンクアップしているか、もともと低速なものがあります
    .shaper = `{ $nic }` のシェーパーの上限を引き上げるか、シェーパーを削除してください
    .rate-limit = 経路上の低速なポート、シェーパー、回線契約の速度を確認してください
    .faster-address = `{ $remote }` でサーバーに接続してください。このアドレスを直接使うか、`hosts` または DNS でサーバー名をこのアドレスに対応付けてください
    .path-back = 接続に使われた経路でサーバーが応答するように、サーバー側で `{ $fast }` のアドレスへのルートを変更してください
    .lower-metric = `{ $fast }` のルートのメトリックを `{ $slow }` より小さくするか (`route.interface_metric`)、両端でリンクごとに別のサブネットを割り当ててください
    .own-subnets = 両端でリンクごとに別のサブネットを割り当て、`{ $other }` を `{ $one }` とは別のネットワークにしてください
    .same-mtu = 両端の MTU をそろえてください。すべてのスイッチと同じセグメントのホストが { $most } に対応していれば { $most }、そうでなければ { $least } です
    .smaller-mtu = 両端の MTU を { $least } にそろえてください。同じセグメントの { $neighbours } は、これより大きいパケットに対応していません
    .offloads-on = { $host } の `{ $nic }` のオフロードを有効に戻してください
    .rss = `{ $nic }` で複数の受信キューを使い、コアごとに 1 つ割り当ててください
    .other-traffic-elsewhere = 同じリンクに大量に送信している機器を特定し (スイッチのポートのカウンターで分かります)、その処理を別の時間帯か別のリンクに移してください
    .other-traffic = `{ $nic }` を使うほかの処理を終了するか、別のリンクに移すか、その処理が終わってからチェックを再実行してください
    .lost-packets = 両端の NIC とスイッチのポートのエラーカウンターを確認し、ケーブルの交換や別のポートへの接続を試してください
    .pause-frames = ポーズフレームの送信元と、両端の NIC とスイッチのフロー制御を確認してください
    .flow-hash = `{ $nic }` のハッシュポリシーをレイヤー 3+4 にするか、リンクごとに別のサブネットを割り当てて SMB マルチチャネルを使ってください
    .flow-hash-of-path = 経路上のボンディングまたはルーターのハッシュポリシーをレイヤー 3+4 にして、複数の接続を使ってください
    .window-scaling = { $host } のウィンドウスケーリングを有効に戻してください
    .window-autotuning = { $host } の受信ウィンドウ自動チューニングを有効に戻してください
    .receive-buffer = { $host } の TCP 受信バッファーの上限を { $bytes } に設定してください
    .send-buffer = { $host } の TCP 送信バッファーの上限を { $bytes } に設定してください
    .socket-options = サーバーの `smb.conf` の `socket options` から `{ $option }` を削除し、Samba を再起動してください
    .server-receive-buffer = サーバーの TCP が受信バッファーを自動調整できるようにしてください。`tcp_rmem` と、`smb.conf` の `socket options` を確認してください
    .server-send-buffer = サーバーの TCP が送信バッファーを自動調整できるようにしてください。`tcp_wmem` と、`smb.conf` の `socket options` を確認してください
    .processor-limit = { $host } のコンテナーまたは仮想マシンの CPU 制限を緩和してください
    .client-processor = クライアントの CPU に余裕を持たせてください。ほかの処理を終了するか、チャネルを増やしてください (チャネルごとに 1 コアで処理されます)
    .server-processor = 大きなファイルのコピー中にサーバーを確認してください (ほかに動いている処理と、使用率が上限に達しているコアの有無)
    .cpu-stolen = { $host } に専用の CPU を割り当てるか、より負荷の低いマシンに移してください
    .power-plan = { $host } の電源プランを「高パフォーマンス」にしてください
    .antivirus = { $host } のウイルス対策ソフトで、共有のフォルダーをスキャン対象から除外してください
    .newer-dialect = サーバーで SMB 3.1.1 を使えるようにしてください (Samba: `server max protocol = SMB3`)
    .more-credits = サーバーが付与するクレジットを、標準の 8192 にしてください (Samba: `smb2 max credits`)
    .larger-requests = サーバーが 8 MiB の要求を受け付けるようにしてください (Samba: `smb2 max read`, `smb2 max write`)
    .cheaper-cipher = サーバーとクライアントが AES-GCM を使うようにしてください。AES-CCM と同等に保護され、処理コストは数分の 1 です (Samba: `server smb3 encryption algorithms`)
    .no-cheaper-cipher = 暗号化にはコストがかかり、これより軽い暗号方式はありません。暗号化しないと、経路上のだれでも内容を読み取れます
    .cheaper-signing = サーバーとクライアントが AES-128-GMAC を使うようにしてください。現在の方式と同等に保護され、処理コストは数分の 1 です (Samba: `server smb3 signing algorithms`)
    .no-cheaper-signing = 署名にはコストがかかり、AES-128-GMAC は最も軽い方式です。署名しないと、経路上のだれでもデータを改ざんできます
    .asynchronous = サーバーの読み取りと書き込みを、既定の非同期処理に戻してください
    .sync-writes = サーバーがディスクへの反映を待たずに応答するようにしてください (Samba: `sync always = no`)。停電時には、ディスクに反映されていないデータが失われます
    .faster-disk = サーバーのディスクを確認してください (ほかの処理による使用、アレイのディスクの欠落、同期書き込みの強制)
    .faster-disk-for-reads = サーバーのディスクを確認してください (ほかの処理による使用、先読みの量)。同じファイルを繰り返し読み取る場合は、メモリーの増設が有効です
    .faster-local-disk = クライアントのより高速なディスクにコピーするか、このディスクを使うほかの処理を確認してください
    .open-port = `{ $remote }` への通信で、ファイルサーバーのポートを許可してください。両端のファイアウォールと、Samba の場合は `interfaces` を確認してください
    .multichannel-on = サーバーで SMB マルチチャネルを有効にしてください (Samba: `server multi channel support = yes`)
    .true-advertisement = サーバーが NIC の実際の情報を通知するように設定してください (Samba: NIC ごとに `interfaces = "ADDRESS;speed=...,capability=RSS"`)
    .dead-link = `{ $nic }` のケーブルとポート、および相手側のアドレスを確認してください
    .mount-so = `{ $options }` を指定して共有をマウントしてください (FILE はユーザー名とパスワードのファイル、FOLDER は任意のマウント先)
    .mount-again = `{ $folder }` のマウントを解除し、`{ $options }` を指定してマウントし直してください (FILE はユーザー名とパスワードのファイル)
    .channels = SMB マルチチャネルで { $links } 本のリンクを同時に使ってください ({ $nics })
    .mtu = { $nics } の MTU を { $mtu } に設定してください{ $neighbours ->
            [absent] {""}
           *[other] { $neighbours }
        }
    .jumbo-segment = セグメント全体の MTU は上げないでください。{ $neighbours } が応答するのは { $answered } バイトまでです。クライアントとサーバーの間だけで次を使ってください: { $segment }
neighbours-unproven = 。その後、チェックを再実行してください。同じセグメントの { $names } が大きなパケットに対応しているかどうかは、送信側の MTU を上げるまで確認できません
segment =
    .new = 両者の間の専用のケーブル、ポート、または VLAN (MTU { $mtu }、専用のアドレス)
    .idle-link = 空いているリンク { $pair } (MTU { $mtu })
    .subnet = 同じケーブル上の専用のサブネット (クライアントが `{ $client }/24`、サーバーが `{ $server }/24`、MTU { $mtu }、ほかのルートはすべて MTU { $standard } のまま)

## Why a remedy is not tried, and what it disturbs

hand =
    .out-of-reach = linerate がコマンドを実行できないホストの設定か、linerate に該当する設定がありません。`--server` でホストを指定するか、そのホストで手動で設定してください
    .unknown = 速度低下の場所しか分からず、それを説明できる原因が見つかっていません
    .no-share = この経路では共有を測定できず、比較の対象がありません
    .cable = 別のケーブルまたはポートが必要です
    .cable-or-switch = 別のケーブル、ポート、またはスイッチが必要です
    .wifi = Wi-Fi を使うほかの通信や、有線を引ける場所は、linerate には分かりません
    .mount-so = linerate が行ったマウントは、チェックの後に残りません
    .mount = ファイルを開いているプログラムがあり得るため、linerate は既存のマウントを解除しません
    .tunnel = トンネルは通信を保護しています。トンネルを通す必要がある通信は、linerate には分かりません
    .rate-limit = だれが何のために速度を制限しているかは、linerate には分かりません
    .address = 別のアドレスでサーバーに接続するか、ルートを変更する必要があります。その状態でチェックして比較してください
    .addresses = 空いているアドレスは、linerate には分かりません
    .rss = NIC のキューの数はドライバーが決めます
    .other-traffic = リンクを使うほかの通信と、それを待たせてよいかどうかは、linerate には分かりません
    .flow-control = スイッチと NIC の設定を合わせる必要があります
    .flow-hash = スイッチ側にもボンディングの設定があります
    .processor = CPU の割り当ては、そのホストの外で決まります
    .hypervisor = ハイパーバイザーが決めます
    .power-plan = 消費電力が増えるため、linerate は変更しません
    .protection = 保護のための設定なので、linerate は変更しません
    .dialect = サーバーが対応するダイアレクトは保護の一部なので、linerate は変更しません
    .durability = 停電時にファイルを保護する設定なので、linerate は変更しません
    .disk = ディスク自体を調べる必要があります
    .local-disk = どのディスクにコピーするかは、linerate には分かりません
    .firewall = ファイアウォールは保護のためのものなので、linerate は変更しません
    .interfaces = サーバーがインターフェイスの一覧を読み込むのは、起動時だけです
blocked =
    .no-session = 共有とのセッションを確認できていないため、対応している機能が不明です
    .dialect = サーバーは SMB { $dialect } ですが、マルチチャネルには 3.0 以降が必要です
    .no-interfaces = サーバーがインターフェイスを通知していないため、SMB マルチチャネルは無効です (Samba: `server multi channel support = yes`)
    .guest = サーバーにゲストとして扱われており、ゲストが使えるのは 1 チャネルだけです
    .asked-already = すでに { $asked } チャネルを要求しましたが、使われたのは { $used } チャネルです: { $why }
    .mtu-max = `{ $nic }` の MTU の上限は { $most } です
    .both-ends = リンクの両端で同じ MTU にする必要がありますが、サーバーの設定にアクセスできません。`--server HOST` でサーバーを指定するか、先にサーバー側の MTU を手動で { $mtu } に設定してください
    .unknown-nic = アドレス `{ $remote }` を持つ NIC が、指定したサーバーに見つかりません
no-reason = 理由は示されていません
disturbs =
    .nothing = なし
    .new-connections = なし (新しい接続から有効になり、既存の接続は変わりません)
    .new-sessions = なし (サーバーがすぐに読み込み、以後に始まるセッションから有効になります)
    .own-session = なし (チャネルは、それを要求したセッションだけのものです)
    .all-sessions = サーバーのすべてのセッション (サーバーの再起動が必要です)
    .link = リンクの一時的な切断 (多くのドライバーは NIC をリセットします)
    .links = 該当するリンクの一時的な切断 (変更のたびに発生。多くのドライバーは NIC をリセットします)
    .until-restart = 該当するリンクの一時的な切断 (コマンドによる設定は次の再起動まで有効です)
    .mount = そのマウントのファイルを開いているすべてのプログラム
    .hands = 作業中にそのリンクを使う通信
    .wifi = 作業中に Wi-Fi を使う通信
    .tunnel = ルートの変更中にトンネルを使う通信
    .routes = なし (名前に対応するアドレスを変えるだけの場合)。ルートを変更する場合は、その経路の一時的な切断
    .address = 変更するアドレスを使うすべての通信
    .others = そのリンクを使うほかの通信
    .shared-host = CPU を共有するほかの処理
    .disks = ディスクを使うほかの処理
    .lets-through = なし (許可する通信が増えるだけです)
