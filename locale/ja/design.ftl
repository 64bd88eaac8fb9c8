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
