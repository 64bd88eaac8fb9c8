# Why something was not measured, failed, was kept or was put back, what a run notes, and what is wrong with its file.
# An argument that may be missing is "absent" then.

## Why a rung was not measured

unmeasured =
    .no-ceiling = 使用中の NIC の速度について、信頼できる情報がありません
    .cached = このマウントではクライアントのキャッシュを避けられず、メモリーの速度しか測定できないおそれがあります
    .no-trial = { $direction }の試行は実行していません
    .our-end = クライアント側のアドレス `{ $address }` を持つ NIC が見つかりません

## Why a trial failed

trial-failure =
    .unexplained = 失敗しました (理由は不明です)
    .no-bytes = データがまったく転送されませんでした
    .of-block = ブロック { $block }、{ $response }: { $reason }
    .of-visit = { $phase }、ブロック { $block }、条件 { $arm }、{ $direction }{ $discarded ->
            [absent] {""}
           *[other] {" "}(集計対象外)
        }: { $reason }
    .same = 同じ設定どうし
    .compare = 比較
    .confirm = 確認
    .more = ほかにもあります

## Why a candidate was kept, put back or not tried

decided =
    .clauses = { $clauses }
    .so-already = 試す必要がありません。すでにこの設定です
    .baseline-differed = 判定不能: 同じ設定どうしの比較で差が出たため ({ $effects })、この測定の差は信用できません
    .few-blocks = 判定不能: 同じ設定どうしの比較で測定できたブロックが少なく ({ $direction })、ノイズの大きさが不明です: { $reason }
    .nothing-measured = 何も測定できませんでした: { $reason }
    .costs = 悪化した項目があります{ $effects ->
            [absent] {""}
           *[other] : { $effects }
        }
    .not-proven = 改善を実証できませんでした{ $effects ->
            [absent] {""}
           *[other] : { $effects }
        }
    .no-difference = 意味のある差はありません{ $effects ->
            [absent] {""}
           *[other] : { $effects }
        }
    .blocks-needed = 約 { $blocks } ブロックで判定できる見込みです
    .trials-failed = { $count } 回の試行が失敗しました
    .last-of-failed = { $count } 回の試行が失敗しました。最後の失敗: { $reason }
    .compared = 比較: { $effects }
    .all-blocks = 全ブロック: { $effects }
    .not-confirmed = 新しい試行では確認できませんでした: { $reason }
    .not-borne-out = 新しい試行の結果だけでは裏付けられませんでした{ $reason ->
            [absent] {""}
           *[other] : { $reason }
        }
    .uncertain = { $direction }が悪化するかどうかは不明です (同じ設定どうしの比較で差が出たため)
    .put-back = { $why }。そのため採用を取り消しました{ $before ->
            [absent] {""}
           *[other] 。取り消す前の判定: { $before }
        }
    .stopped = tune は中止されました
    .could-not-go-on = tune を続行できませんでした ({ $reason })
    .no-time = 時間が残っていませんでした
    .no-time-to-try = 試す時間が残っていませんでした。ここでは 1 回の試行に { $seconds } 秒かかります
    .no-time-to-prove = 実証する時間が残っていませんでした
    .budget-too-short = { $seconds } 秒では時間が足りません。`--budget` で延ばせます
    .cannot-be-set = 設定できません: { $reason }
    .screened-out = 予備選別で除外: { $found }
    .at-most = 最大でも { $ratio } 倍 (見つかった最良の設定に加えると { $gain } % [{ $low }, { $high }])
    .not-better = 改善なし (見つかった最良の設定に加えると { $gain } % [{ $low }, { $high }])
    .too-noisy = 試行ごとのばらつきが { $noise } % あるため、{ $least } % 未満の改善は実証できません
    .against-rest = これを外した残り全体との比較{ $effects ->
            [absent] {""}
           *[other] : { $effects }
        }
    .against-rest-lost = これを外した残り全体との比較: { $reason }
    .rest-alike = この比較の残りには `{ $id }` が含まれていましたが、差がないため、その後元に戻しました
    .rest-gains = この比較の残りには `{ $id }` が含まれていましたが、その後元に戻しました。それがなくても改善することは予備測定で確認済みです
    .won-with-returned = 2 回改善しましたが、どちらも後で元に戻した変更と組み合わせた結果でした
    .against-start = 採用したもの全体と開始時の状態との比較{ $effects ->
            [absent] {""}
           *[other] : { $effects }
        }
    .against-start-lost = 開始時の状態に対する改善を確認できませんでした: { $reason }
decided-effect =
    .ratio = { $direction } { $ratio } [{ $interval }]
    .judged = { $direction } { $ratio } [{ $interval }] { $verdict }
    .no-interval = 信頼区間なし

## What a run notes

run-note =
    .mount-so = $ { $command }
    .mount-at-start = 次回の起動から、`/etc/fstab` により `{ $folder }` がこのオプションでマウントされます。`linerate undo` で元の行に戻せます
    .baseline-differed = 同じ設定どうしの比較で差が出ました ({ $effects })。その方向への影響は判定できないため、残りの方向だけで判定します
    .put-back = { $why }。変更はすべて元に戻し、開始時の状態と一致することを確認しました
    .not-put-back = 元に戻せなかった変更があります: { $reason }
    .screening = { $what }、試行のノイズ { $noise } %。ほかの候補について平均した効果: { $effects }
    .screened = `{ $id }` { $effect } % (誤差 ± 約 { $error } %)
    .race-decided = { $trials } 回の試行による絞り込み: これを意味のある差で上回る設定はほかにありません
    .race-ended = { $trials } 回の試行による絞り込み: 試行の残りがないため、ここで打ち切りました
    .kept = `{ $id }` を採用しました: { $warning }
    .tests-left-out = { $names } を除外しました: { $reason }
search-round =
    .screening = { $settings } 通りの設定の予備選別
    .race = 最良になりうる設定の絞り込み

## What is wrong with a run file

run-warning =
    .cut-line = { $line } 行目が途中で切れているため、除外しました
    .unknown-kind = { $line } 行目は未知の種類 `{ $kind }` のため、除外しました
    .more-unknown = ほかにも未知の種類の行が { $count } 行あり、除外しました
    .unfinished = 測定が最後まで実行されていません。それまでに測定した分だけを示します
    .two-schedules = `{ $experiment }` には `{ $phase }` の計画が 2 つあるため、最初の計画を使用しました
    .strays = どの計画にも属さない試行が { $count } 回あり、集計から除外しました
    .many-workloads = 最初の { $most } 種類の負荷だけを分析しました
