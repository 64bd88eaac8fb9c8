# What is said beyond the verdict: the way, the packets, the session, the channels, TCP and the hosts.
# An argument that may be missing is "absent" then.

## Titles and counts

detail-title =
    .routes = 経路とインターフェイス
    .packets = 通過できるパケット
    .neighbours = 同じセグメントのほかのホスト
    .session = セッション
    .mount = システムの SMB クライアントのマウント
    .files = ディスクと小さなファイル
    .clients = クライアントが開くチャネル
    .channels = 各チャネルの実測速度
    .transfers = 各段階の TCP とホスト
detail-count =
    .dropped = 破棄 { $count } パケット
    .pauses = ポーズフレーム { $count } 個

## The way

detail-route = `{ $address }` への経路: { $nic ->
        [absent] インターフェイス不明
       *[other] `{ $nic }`
    }、{ $router ->
        [absent] ルーターなし
       *[other] ルーター `{ $router }` 経由
    }
detail-interface = { $host }: `{ $nic }` { $speed ->
        [absent] 速度不明
       *[other] { $speed }
    }、MTU { $mtu }{ $kind ->
        [absent] {""}
       *[other] 、{ $kind }
    }
detail-neighbour =
    .silent = `{ $nic }` 側の `{ $address }` はエコー要求に応答しません
    .takes-less = `{ $nic }` 側の `{ $address }` は { $answered } バイトに応答しますが、{ $tried } バイトには応答しません
    .takes-all = `{ $nic }` 側の `{ $address }` は、こちら側が送れる最大の { $answered } バイトに応答します
detail-packet = { $pair }: { $most } バイトのパケットが通ります{ $back ->
        [absent] {""}
       *[other] { $back }
    }。MTU はこちら側が { $near }{ $far ->
        [absent] {""}
       *[other] 、相手側が { $far }
    } です{ $larger ->
        [absent] {""}
       *[other] 。{ $larger }
    }{ $seen ->
        [absent] {""}
       *[other] {" "}({ $seen })
    }
    .unproven = { $pair }: どのプローブにも応答がなく、何も確認できていません
    .to-server = `{ $nic }` → サーバー
    .back = 。復路では { $most } バイトを確認しました
    .one-way = {" "}(往路のみ。相手側がこのサイズのエコー要求に応答しないため TCP で調べており、復路は確認できていません)
    .vanish = これより大きいパケットは通知なしに失われます
    .too-big-reported = これより大きいパケットには、大きすぎるという通知がルーターから返ります
detail-vanished =
    .our-end = こちら側が送った { $size } バイトのパケット { $sent } 個のうち: { $counts }
    .each-end = 両側がそれぞれ送った { $size } バイトのパケット { $sent } 個のうち: { $counts }
    .there = サーバーのシステムに到達 { $count } 個
    .back = サーバーからこちら側に到達 { $count } 個
    .near-refused = こちら側の NIC が不正なパケットとして破棄 { $count } 個
    .far-refused = サーバーの NIC が不正なパケットとして破棄 { $count } 個

## The session and its channels

detail-session =
    .most = サーバーが一度に受け付ける最大サイズ: 読み取り { $read }、書き込み { $write }
    .credits = クレジット { $credits } ({ $worth } 相当)
    .with-rss = サーバーが通知したインターフェイス: `{ $address }`、{ $speed }、RSS あり
    .without-rss = サーバーが通知したインターフェイス: `{ $address }`、{ $speed }、RSS なし
    .request = 小さな要求 1 回の所要時間 { $time }
detail-mount = `{ $folder }` に `{ $source }`、SMB { $dialect ->
        [absent] バージョン不明
       *[other] { $dialect }
    }{ $channels ->
        [absent] 、チャネル数不明
       *[other] 、{ $channels }
    }
    .requests = 1 回の要求のサイズ: 読み取り { $read }、書き込み { $write }
    .encrypted = 暗号化あり
    .signed = 署名あり
    .unprotected = 署名、暗号化ともになし
    .interface = クライアントが知るサーバーのインターフェイス: `{ $address }`{ $speed ->
        [absent] {""}
       *[other] 、{ $speed }
    }{ $channels ->
        [absent] {""}
       *[other] 、チャネル数 { $channels }
    }
    .options = オプション: { $options }
detail-client = { $client }: { $pairs ->
        [absent] 最初の接続の 1 チャネルのみ
       *[other] { $pairs }
    }{ $remark ->
        [absent] {""}
       *[other] {" "}({ $remark })
    }
    .pair = { $ends } に { $channels } チャネル
    .unused = { $client } が使わない組み合わせ: { $pair } ({ $reason })
detail-channels =
    .together = { $direction }: 全 { $count } チャネルの合計 { $rate } (試行 { $trials }){ $against ->
            [absent] {""}
           *[other] 、{ $against }
        }
    .one = { $direction }: { $channel } は { $rate }、全体の { $share }{ $full ->
            [absent] {""}
           *[other] {" "}(NIC の使用率 { $full })
        }
    .measured = 測定したのは、全チャネルを同時に使ったときの各チャネルの速度と、1 チャネルだけの場合との比較です。ほかのチャネルを 1 つ外した場合の速度は測定していません
detail-against = 1 チャネルだけの場合 ({ $ends }、{ $rate }) の { $gain }{ $confidence ->
        [absent] {""}
       *[other] {" "}(信頼度 { $confidence })
    }: { $verdict }
    .more = 1 割を超える増加
    .less = 1 割を超える減少
    .same = 差は 1 割以内
    .undecided = 差があるかどうかは判定不能

## TCP and the hosts

detail-rung =
    .round-trip = 往復時間
    .small-files = 小さなファイル
detail-transfer = { $rung } { $direction }: { $parts }
    .round-trip = 往復時間 { $time }
    .window = ウィンドウ { $window } (転送中のデータ { $path })
    .segment = セグメント { $bytes } バイト
    .resent = こちら側の再送 { $count } セグメント
    .limited-by-sender = こちら側の送信バッファーが制限
    .limited-by-receiver = 受信側のウィンドウが制限
    .limited-by-network = ネットワークが制限
    .whole-trial = ホストの値はファイルの作成と削除を含む試行全体のもの
detail-congestion-control =
    .near = 輻輳制御 { $near } (こちら側)
    .far = 輻輳制御 { $far } (サーバーのホストの設定)
    .both = 輻輳制御 { $near } (こちら側)、{ $far } (サーバーのホストの設定)
detail-host =
    .fullest-processor = 最も使用率の高い CPU { $share }
    .soft-interrupts = ソフト割り込み { $share }
    .stopped = 制限による停止 { $share }
