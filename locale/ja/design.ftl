# What is said of experiments over several factors, and of tables that others measured.
# An argument that may be missing is "absent" then.

## The first sentence

design-so-far =
    .nothing = まだ何も判定できていません
    .unsure = { $effect } (信頼区間は未確定)
design-headline =
    .alarm = 同じ設定どうしで差が出たため、この実験の結果は信用できません
    .alarm-in = { $response }{ $others ->
            [absent] {""}
           *[other] {" "}ほか { $others } 件
        } では同じ設定どうしで差が出たため、その結果は信用できません
    .all-failed = 何も測定できませんでした。すべての試行が失敗しました
    .equal = 意味のある差はありません
design-change = { $factor } { $from } → { $level }
design-together =
    .one = { $response } に { $factors } の交互作用があります
    .many = { $response } には { $pairs } 組の要因の交互作用があります
design-unknown =
    .open = まだ判定できません: { $names }{ $blocks ->
            [absent] {""}
           *[other] {" "}({ $blocks } ブロックで判定できる見込みです)
        }
    .missing = 未測定: { $names }

## What was found

design-form =
    .a-b = A/B 比較
    .one-factor = { $levels } 水準の 1 要因
    .full = 完全実施要因計画
    .one-at-a-time = 一度に 1 要因ずつ変える計画
    .fraction = 一部実施要因計画 2^({ $factors }-{ $generators })、分解能 { $resolution }
    .split-plot = { $form } (分割法)
    .instead = { $form } ({ $factors } 要因が必要な一部実施要因計画の代わり)
design-progress = { $form }、{ $all } ブロック中 { $done } ブロック完了
design-row =
    .left-out = 除外した要因:
    .aliased = 交絡していて区別できない効果:
    .hidden = ほかの { $arms } 条件と、2 条件だけの比較 { $comparisons } 件は、`linerate report` のページと `--json` にあります
    .processor = 1 GB あたりの CPU 時間 (秒):
    .published = 公表値:
    .combinations = ほかの要因の組み合わせごとの比較
design-arm =
    .replicate = { $arm } (再測定)
    .first = すべての要因が最初の水準
design-noise =
    .alarm = { $response }: 同じ設定どうしの差 { $ratio }。ノイズの範囲を超えています
    .found = { $response }: 同じ設定どうしの差 { $ratio }。{ $share } 以上の差を検出できます
    .distinguished = { $response }: 同じ設定どうしの差 { $ratio }。2 条件の差は { $share } 以上であれば検出できます
    .few-blocks = { $response }: 同じ設定どうしの差 { $ratio }。ブロックが少なく、検出できる差の大きさは不明です
design-pair = { $factor } { $from } → { $level }{ $others ->
        [absent] {""}
       *[other] {" "}({ $others })
    }: { $difference }{ $verdict ->
        [absent] {""}
       *[other] 、{ $verdict }
    }{ $blocks ->
        [absent] {""}
       *[other] 。{ $blocks } ブロックで判定できる見込みです
    }
    .interaction = { $one } { $level } の効果の比 ({ $other } が { $at } のとき ÷ { $first } のとき): { $difference }{ $verdict ->
            [absent] {""}
           *[other] 、{ $verdict }
        }{ $blocks ->
            [absent] {""}
           *[other] 。{ $blocks } ブロックで判定できる見込みです
        }
    .published = { $pair } (公表値: { $published })
design-figure =
    .by = { $factor } ({ $other } 別)
    .medians = 、{ $unit }: 各条件の中央値 (線は水準ごと)
design-column =
    .samples = 各試行 ({ $unit })
design-effects = { $response } への効果
    .not-estimated = 推定不能

## Tables that others measured

table-rows = 単位 { $unit }、{ $rows } 行
    .unit-unknown = 単位不明、{ $rows } 行
table-difference =
    .better = `{ $factor }={ $level }` は `{ $from }` に対して改善: { $difference }
    .worse = `{ $factor }={ $level }` は `{ $from }` に対して悪化: { $difference }
    .unknown = `{ $factor }={ $level }` は `{ $from }` と差あり: { $difference }
table-pair =
    .both = `{ $one }` と `{ $other }`
    .the-two = `{ $pair }` の両方
    .levels = { $levels } の組み合わせ
    .less-than-sum = { $both } を組み合わせると、それぞれの効果の和より { $size } 小さくなります
    .less-than-product = { $both } を組み合わせると、それぞれの効果の積より { $size } 小さくなります
    .more-than-sum = { $both } を組み合わせると、それぞれの効果の和より { $size } 大きくなります
    .more-than-product = { $both } を組み合わせると、それぞれの効果の積より { $size } 大きくなります
table-effects =
    .equivalent = 意味のある差なし: { $names }
    .undecided = この表の行からは判定できません: { $names }
    .quiet-pairs = 要因の組 { $count } 組を検定しましたが、交互作用は検出されませんでした
    .unsure = 確かさを評価できません: { $names }
    .not-estimated = 推定できません: { $names }
table-column =
    .changed = 要因
    .from-to = 変更前, 変更後
    .interval = 95 % 信頼区間
    .ratio = 比
    .p = p 値 (Holm)
table-test = { $what }: { $letter }({ $degrees }) = { $statistic }、p { $p }{ $holm ->
        [absent] {""}
       *[other] {" "}(Holm 補正後 { $holm })
    }: { $verdict }
    .anova = `{ $over }` の条件間の一元配置分散分析
    .kruskal-wallis = `{ $over }` の条件間の Kruskal-Wallis 検定
    .interaction = 交互作用 { $pairs }
    .factor = `{ $over }` の全水準
    .other = `{ $over }` の { $name }
    .or = { $one } または { $other }
    .statistic = 統計量
    .over-a-million = 100 万超
    .shown = 有意差あり
    .not-shown = 有意差なし
table-warnings =
    .more = ほか { $count } 件は `--json` にあります

## What a reader must know of an experiment

design-caveat =
    .above-ceiling = `{ $response }` の速度が、使用中の NIC の上限 { $ceiling } を超えています。リンクの情報が実際と異なるか、データが別の経路を通っています
    .baseline-unchecked = { $blocks } ブロックでは、{ $responses ->
            [absent] {""}
           *[other] { $responses } 個の測定値を同時に調べる場合、
        }同じ設定どうしで差がないかどうかを判定できません。{ $least } ブロック必要です
    .baseline-checked-roughly = { $blocks } ブロックでは、{ $responses ->
            [absent] {""}
           *[other] { $responses } 個の測定値を同時に調べる場合、
        }同じ設定どうしの大きな差しか検出できません。{ $least } ブロック必要です
    .least-squares = { $all } 個の効果のうち { $few } 個は、Holm 補正後の対比較に { $blocks } ブロックでは足りません ({ $least } ブロック必要です)。これらは最小二乗法で判定し、併記した信頼区間も差を示す場合だけ差ありとします
    .measured-already = すでに測定した順番を再び測定した { $count } 回の試行は、集計していません
    .not-estimated = まだ効果を推定できません: { $reason }

## What a reader must know of a table

table-alias =
    .by-block = { $effect } はブロックごとにしか変えていないため、ブロック間のほかの違いと区別できません
    .changed-together = { $effect } は { $effects } と同時に変えているため、区別できません
    .never-together = `{ $pair }` は推定できません。2 つの要因を同時に変えた行がありません
    .never-varied = { $effect } の行がないか、この水準の行しかないため、効果を推定できません
    .of-design = { $alias }: この実験計画では、これらの交互作用が交絡しています
    .of-pairs = { $effects } は { $pairs } と交絡しています
    .one-contrast = { $pairs } は、これらの行では同じ対比になります
    .pair = `{ $pair }` は { $effects } と交絡しています
    .with = { $one } と { $other }
table-arm =
    .failed = 条件 `{ $arm }`: `{ $command }` の実行 { $all } 回のうち、失敗した { $left_out } 回 ({ $how }) を除外しました
    .unfinished = 条件 `{ $arm }`: fio の結果 { $all } 件のうち { $left_out } 件は実行の途中経過です。集計するのは各実行の最後の結果だけです
table-conditional = 交互作用が指定されているため、`{ $factor }` の効果は `{ $at }` での値です
table-direction = `{ $response }` は大きいほうがよいのか不明なため、差があっても改善・悪化と判定しません。`--better higher` または `--better lower` を指定してください
table-interaction =
    .not-added = `{ $pair }`: 効果が加法的ではありません。1 つ目だけで { $one } 倍、2 つ目だけで { $other } 倍、両方で { $both } 倍{ $better ->
            [lower] {" "}(1 より大きいほうが改善)
           *[higher] {""}
        }{ $tested ->
            [no] {" "}(自由度が残らないため、検定していません)
           *[yes] {""}
        }
    .not-multiplied = `{ $pair }`: 効果が乗法的ではありません。1 つ目だけで { $one } 倍、2 つ目だけで { $other } 倍、両方で { $both } 倍{ $better ->
            [lower] {" "}(1 より大きいほうが改善)
           *[higher] {""}
        }{ $tested ->
            [no] {" "}(自由度が残らないため、検定していません)
           *[yes] {""}
        }
    .only-together = `{ $pair }`: 両方を変えたときだけ変化します。1 つ目だけで { $one } 倍、2 つ目だけで { $other } 倍、両方で { $both } 倍{ $better ->
            [lower] {" "}(1 より大きいほうが改善)
           *[higher] {""}
        }{ $tested ->
            [no] {" "}(自由度が残らないため、検定していません)
           *[yes] {""}
        }
table-interactions-skipped =
    .no-rows = 主効果の推定で行を使い切るため、交互作用は調べていません
    .too-many = 組が多すぎるため、交互作用は調べていません。必要なものを `a:b` の形式で指定してください
table-left-out = { $reason }。このため除外しました
    .response = `{ $response }` を除外しました: { $reason }
table-mean-against-median = `{ $effect }`: 平均と中央値で差の向きが逆です。各行を確認してください
table-missing = データの { $row } 行目は、`{ $column }` が空のため除外しました
    .more = ほか { $more } 行を、空のセルがあるため除外しました
table-mixed-up =
    .binary-prefix = MiB と KiB のような 2 進接頭辞の取り違え
    .binary-unit = MB と MiB の取り違え
    .bits = バイトとビットの取り違え
    .prefix = MB と kB のような接頭辞の取り違え
    .thousands = 1 単位と 1000 単位の取り違え
    .time = us と ms のような接頭辞の取り違え
table-no-rate = データの { $row } 行目: 速度が { $value } です。実行に失敗した場合は、セルを空にするか行を削除してください
    .more = ほか { $more } 行が 0 { $unit } 以下です
table-order =
    .repeated = { $rows } 行は、先頭の { $period } 行を同じ値で { $times } 回繰り返したものです。コピーした行は測定ではないため、削除してください
    .values-fall = 同じ水準の行が続いており、その中で値が行ごとに低下しています。時間による変化がここでは差に見えます。水準を交互に測定し、続けて測定した行の組を指定してください (`--blocks COLUMN`)
    .values-rise = 同じ水準の行が続いており、その中で値が行ごとに上昇しています。時間による変化がここでは差に見えます。水準を交互に測定し、続けて測定した行の組を指定してください (`--blocks COLUMN`)
table-outlier = データの { $row } 行目: { $value } は外れ値ですが (予測値 { $expected })、除外していません
table-power =
    .about = `{ $effect }`: 同様の行が約 { $needed } 行あれば判定できる見込みです (現在 { $rows } 行){ $found ->
            [absent] {""}
           *[other] 。現在の行では { $found } の差を検出力 80 % で検出できます
        }
    .more-than = `{ $effect }`: 判定には同様の行が { $needed } 行より多く必要な見込みです (現在 { $rows } 行){ $found ->
            [absent] {""}
           *[other] 。現在の行では { $found } の差を検出力 80 % で検出できます
        }
    .over-a-thousand = 1000 % 超
table-robust-errors = `{ $effect }` の判定は、行によってノイズが異なるとすると (HC3 標準誤差)、{ $verdict }から{ $robust }に変わります
table-runs =
    .means = { $rows } 行は、`{ $column }` によると { $runs } 回の実行の結果です。実行ごとの平均を 1 回の測定とします
    .one-of-each = { $rows } 行は、`{ $column }` によると各水準 1 回、計 { $runs } 回の実行の結果です。1 回の実行は、行がいくつあっても 1 回の測定です。各水準を交互に、それぞれ 6 回以上実行してください
    .stretches = 各水準の { $rows } 行以上が、1 回の実行中の区間のように連続しています。1 回の実行は 1 回の測定です。同じ実行の行 (`--runs COLUMN`) か、続けて測定した行の組 (`--blocks COLUMN`) を指定してください
table-slip =
    .above = データの { $row } 行目: { $value } は、同様の行の約 { $times } 倍です。単位の誤り ({ $mixed_up }) と考えられます。{ $corrected } なら合います
    .below = データの { $row } 行目: { $value } は、同様の行の約 { $times } 分の 1 です。単位の誤り ({ $mixed_up }) と考えられます。{ $corrected } なら合います
    .level = `{ $effect }` のすべての行が、基準から約 { $times } 倍離れています。単位が異なっていないか確認してください
table-spelling = `{ $factor }` の `{ $one }` と `{ $other }` を別の水準として扱っています。表記ゆれではないか確認してください
table-unsure =
    .exact-fit = モデルがすべての行に完全に一致しています。丸めた値か計算した値のため、推定値の確かさを評価できません
    .one-row = 推定値の 1 つがデータの { $row } 行目だけで決まっており、検証できません
    .pair = `{ $pair }` の確かさを評価できる行が残りません。測定を追加してから分析し直してください
    .plots = { $effects } はプロットごとにしか変えておらず、プロットが少ないため確かさを評価できません。ブロックを増やして測定してください
    .rows = { $rows } 行で { $parameters } 個のパラメーターを推定するため、自由度が残らず、推定値の確かさを評価できません
    .unreplicated = 各組み合わせの測定は 1 回だけです。信頼区間は、効果が加法的であることを前提にしています

## Results of other programs, before and after

no-verdict =
    .few-runs = 実行が { $runs } 回では少なすぎて判定できません。変更前と変更後にそれぞれ { $least } 回必要です
    .interval = 信頼区間に、変化なしと意味のある変化の両方が含まれています
    .one-run = 1 回の実行は 1 回の測定です。変化と実行ごとのばらつきを区別できません
