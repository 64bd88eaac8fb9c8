# What is said of recipes of `bench`: their figures, and what these mean.
# An argument that may be missing is "absent" then.

## The first sentence

recipe-headline = { $recipe }: 最大 { $best }
    .one = { $direction } { $rate } ({ $test })
    .not-believed = { $recipe }: 信用できる結果がありません
    .each = { $recipe }: 各テストの結果を参照してください
recipe-played =
    .none = { $recipe }: フレーム落ちあり: { $fails }
    .all = { $recipe }: フレーム落ちなし: { $plays }
    .some = { $recipe }: フレーム落ちなし: { $plays }。フレーム落ちあり: { $fails }

## What the numbers mean

recipe-note =
    .figure = 表示値は反復の{ $figure }です
    .original = 表示値は { $recipe } が示す値です: { $about }
    .zeros = データはすべてゼロです。経路の途中でデータを圧縮するものがあると、実際より速く見えます
recipe-figure =
    .best = 最良値
    .mean = 平均値
    .median = 中央値
recipe-cache =
    .client = クライアントのキャッシュ: 操作がキャッシュを経由したため、ディスクやネットワークの性能を示す値ではありません
    .memory = 応答したのは、ディスクとして使われているクライアントのメモリーです
    .server = サーバーのキャッシュ: テストファイル全体がサーバーのメモリーに収まります。その先のディスクはこれより遅い可能性があります
    .server-or-media = サーバーのキャッシュまたはディスク: どちらが応答したかは、ここからは判定できません
    .any-or-media = キャッシュまたはディスク: 直接 I/O がこのファイルシステムのキャッシュを経由しないかどうかは不明です
    .media = メディア: クライアントのキャッシュは経由していません
recipe-units = ここでの MB は 10^6 バイト、MiB は 2^20 バイトです。元のツールがどちらで数えるかは不明です: 最大 { $best }
    .one = { $direction } { $decimal } ({ $binary })

## Each test

recipe-column =
    .test = テスト
    .way = 方向
    .figure = 表示値
    .per-second = 1 秒あたり
    .latency = レイテンシ
    .percentiles = 50 / 99 / 99.9 パーセンタイル
recipe-test =
    .few-passes = 反復不足
    .latency = レイテンシ { $latency }、50 / 99 / 99.9 パーセンタイル { $percentiles }
    .exceeded = 使用中の NIC の上限 { $rate } を超過
    .none-missed = フレーム落ちなし ({ $frames }中)
    .missed = フレーム落ち { $missed } ({ $frames }中)、最大遅延 { $late }
    .copied = 所要時間 { $time }、最初のバイトまで { $first }
    .failed = { $test } の{ $direction }に失敗:
recipe-sweep =
    .title = サイズ別の書き込みと読み取り
    .figure = 各サイズ: 反復の{ $figure }
    .with-interval = 反復の中央値とその信頼区間
    .few-passes = 反復の中央値 (反復が少なく信頼区間なし)
    .cost = 1 バイトあたりのクライアントの CPU 時間
