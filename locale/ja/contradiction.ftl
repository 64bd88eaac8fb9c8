# Where the two ends of a path do not agree, and what to do about it.

contradiction =
    .end = { $host } の `{ $nic }`
    .subnet = { $near } と { $far } に共通のサブネットがありません
    .down = { $end } がリンクアップしていません
    .mtu = リンクの両端で MTU が異なります: { $near } は { $one }、{ $far } は { $two } です
    .speed = リンクの両端で速度が異なります: { $near } は { $one }、{ $far } は { $two } です
    .queues = 受信キューが複数あるのは片側だけです: { $near } は { $one } 個、{ $far } は { $two } 個です
    .unused = { $host } の `{ $fast }` ({ $fast_rate }) からは { $other } に到達できません。到達できるのは低速な `{ $slow }` ({ $slow_rate }) です
    .route = { $host } から { $other } への送信には `{ $slow }` ({ $slow_rate }) が使われています。同じサブネットの `{ $fast }` は { $fast_rate } です
    .flow-control = フロー制御が非対称です: { $near } は `{ $one }`、{ $far } は `{ $two }` です
    .tso = { $end } だけ、TCP セグメンテーションオフロード (TSO) が無効です
    .tx-checksum = { $end } だけ、送信チェックサムオフロードが無効です
    .rx-checksum = { $end } だけ、受信チェックサムオフロードが無効です
    .eee = 省電力型イーサネット (EEE) の設定が両端で異なります: { $near } は { $one }、{ $far } は { $two } です
    .window-scaling = { $host } で `tcp.window_scaling` が無効です。ウィンドウは最大 64 KiB で、往復時間 0.5 ms では 131 MB/s までしか出ません
    .window-autotuning = { $host } で `tcp.window_autotuning` が無効です。受信ウィンドウが接続に応じて拡大されません
    .sack = { $host } で `tcp.sack` が無効です。パケットロスのとき、失われていないセグメントまで再送されます
    .timestamps = { $host } で `tcp.timestamps` が無効です。シーケンス番号が一巡すると (10 Gbit/s では 3.4 秒ごと)、古いセグメントが新しいものと誤認されることがあります
    .multichannel = { $client } から { $server } への SMB マルチチャネルが { $host } だけで無効になっているため、セッションの接続は 1 本になります
    .signing = { $who } は SMB 署名を必須としていますが、{ $other } は必須としていません。{ $client } から { $server } への要求はすべて署名されます

hint-contradiction =
    .subnet = アドレスとプレフィックスの設定を確認してください。正しければ間にルーターがあり、性能はルーターによって制限されます
    .down = ケーブルを接続するか、相手側のポートを確認してください
    .mtu = 両端と、その間のすべてのスイッチで同じ値に設定してください。異なると、大きなフレームが通知なしに失われます
    .speed = 遅いほうの速度に制限されます。遅い側のケーブル、ポート、ネゴシエーションの結果を確認してください
    .queues = 1 つの NIC で SMB マルチチャネルを使うには、両端に複数の受信キューが必要です。`nic.channels` を確認してください
    .unused = 高速なリンクの両端に専用のサブネットのアドレスを割り当て、そのアドレスで接続してください
    .route = リンクごとに別のサブネットを割り当てるか、高速なほうのルートのメトリックを小さくしてください (`route.interface_metric`)
    .flow-control = `nic.flow_control` を両端でそろえてください。一方が送信するポーズフレームに、もう一方が従いません
    .offload = 意図して無効にしたのでなければ、無効な側で `{ $knob }=on` を設定してください
    .eee = 遅延が問題になる場合は、両端で無効にしてください
    .set = `linerate set { $host } { $knob }={ $value }` を実行してください
    .signing = 保護のための設定なので、無効にしないでください。両端で SMB 3.1.1 を使うと、署名の負荷が最も小さくなります
