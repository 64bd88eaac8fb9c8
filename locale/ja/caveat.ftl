# What a reader must know of the numbers.
# An argument that may be missing is "absent" then.

## Samples

few-trials =
    .for-any = 試行が少なく、信頼区間を計算できません (必要な { $least } 回のうち { $n } 回)
    .at-most = { $n } 回の試行で達する信頼度は最大 { $reached } です。{ $asked } には { $least } 回必要です
few-blocks =
    .for-any = ブロックが少なく、信頼区間を計算できません (必要な { $least } 個のうち { $n } 個)
    .at-most = { $n } ブロックで達する信頼度は最大 { $reached } です。{ $asked } には { $least } ブロック必要です
outlier =
    .trials = { $count ->
           *[other] 試行 { $which } は外れ値ですが、除外していません
        }
    .blocks = { $count ->
           *[other] ブロック { $which } は外れ値ですが、除外していません
        }
outlier-more = ほか { $count } 件
many-blocks = { $n } ブロックあるため、Hodges-Lehmann 推定の代わりに比の中央値を使っています
drift =
    .values-rise = 値が試行ごとに上昇しています (全体で { $share })
    .values-fall = 値が試行ごとに低下しています (全体で { $share })
    .ratio-rises = 比がブロックごとに上昇しています (全体で { $share })。時間に依存している可能性があります
    .ratio-falls = 比がブロックごとに低下しています (全体で { $share })。時間に依存している可能性があります
several-modes = ブロックが離れたグループに分かれています。ノイズが多峰性のため、信頼区間はそれぞれを含む広さになっています

## Experiments

incomplete-blocks = { $phase }、{ $direction }: { $planned } ブロックのうち完了したのは { $complete } ブロックです
misplaced-trials = { $phase }: 予定した順序と異なる { $count } 回の試行は集計していません
missing-channels = { $phase }: { $all } 回の試行のうち { $short } 回は、試す予定の { $channels } チャネルより少ないチャネルで実行されました: { $why }
senseless =
    .band = 同等とみなす幅 { $value } は不正な値です。{ $default } を使います
    .confidence = 信頼度 { $value } は不正な値です。{ $default } を使います
baseline-differs = 同じ設定どうしで { $share } の差があります。これより小さな効果には意味がありません
    .alarm = 同じ設定どうしで差が出たため、ここでの差は信用できません
below-noise = このブロック数とノイズで確実に検出できる差 ({ $floor }) より小さい差です

## The ladder

ceiling-because =
    .line = { $pair }: { $rate } の回線は MTU { $mtu } のとき { $whole } バイトごとに { $payload } バイトのデータを運びます
    .shaper = { $pair }: { $rate } のシェーパーは MTU { $mtu } のとき { $whole } バイトごとに { $payload } バイトのデータを通します
    .both = { $first }。{ $second }
ceiling-caveat =
    .only-advertised = 速度の根拠はサーバーの通知だけで、実際とは異なる可能性があります
    .advertised = 速度はサーバーが通知した値で、実際とは異なる可能性があります
    .far-mtu = 相手側の NIC が不明なため、MTU はこちら側と同じとみなしています
    .no-line = 一方の端が Wi-Fi またはトンネルを通るため、もう一方の端の回線速度までは出ません
    .other-direction = 速度は反対方向についてのみ判明しており、両方向で同じとみなしています
gain-caveat =
    .at-most = 最大値です。ほかに制限がない場合に限ります
    .stopped-time = 最大値です。制限で停止していた時間から計算しています
    .in-direction = ({ $direction })
    .equal-links = リンクの速度が不明なため、すべて等しいとみなしています
    .alike-links = リンクがすべて同じ速度の場合のリンク数です
    .switches = 経路上のすべてのスイッチがこのサイズのフレームに対応している必要があります
    .slow-share = 現在、共有はリンクの上限に達していないため、効果はこれより小さい可能性があります
    .cable = 有線の回線速度と、Wi-Fi での実測値との比です
    .without-others = 最大値です。ほかの通信がリンクを使わない場合に限ります
fewer-channels = ほか { $count } 回はチャネル数が少ないか、途中でチャネルを失ったため、集計していません
unused-pair =
    .dialect = マルチチャネルには SMB 3 が必要ですが、サーバーは { $dialect } です
    .guest = ゲストのセッションで使えるのは 1 チャネルだけです
    .multichannel-off = サーバーでマルチチャネルが無効です
    .our-rss = こちら側の NIC が RSS に対応しておらず、対応している組み合わせがほかにあります
    .server-rss = サーバー側の NIC が RSS に対応しておらず、対応している組み合わせがほかにあります
    .slower = この組み合わせは { $rate } で、ほかに { $best } の組み合わせがあります
    .limit = 上限は { $most } チャネルです
    .taken = 両端の NIC はどちらも別の組み合わせで使われています
    .loopback = サーバー自身のループバックです
    .link-local = リンクローカルアドレスです
    .no-subnet = 同じサブネットにある NIC がこちら側にありません
    .any-other = ほかのすべて
linux-options = `multichannel,max_channels={ $channels }` を指定した場合。指定しないと 1 チャネルだけ開きます
