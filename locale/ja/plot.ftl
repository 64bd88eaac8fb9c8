# What plots say: their names and descriptions for those who cannot see them, and the words within them.
# An argument that may be missing is "absent" then.

## Counts

plot-count =
    .repetitions = 反復 { $count } 回
    .sizes = { $count } サイズ
    .means = 中央値の平均 { $count } 個

## The ladder

plot-ladder =
    .title = 速度: { $direction }
plot-rung = { $rung } { $rate }{ $share ->
        [absent] {""}
       *[other] 、{ $share }
    }
    .not-measured = { $rung } 未測定
    .loses = { $rung }: ここで速度低下

## Trials

plot-trials =
    .title = すべての試行 (ブロック順): { $direction }
    .arm = { $phase }、条件 { $arm }: 試行 { $trials }、中央値 { $median }
plot-block = ブロック { $number }: { $rate }
plot-repetitions =
    .title = すべての反復: { $workload }
    .description = { $repetitions }、中央値 { $median }
    .one = 反復 { $number }: { $rate }

## Experiments

plot-effects =
    .title = 効果とその信頼区間
    .different = 差あり
plot-interaction = { $factor } ごとの { $response }
plot-sweep =
    .title = サイズ別の速度
    .description = { $sizes }、最大 { $rate }
    .legend = 白抜き: 書き込み、塗りつぶし: 読み取り
