# Errors of files: run files, plans and recipes, what is kept or named on a disk, tables, experiments.
# An argument that may be missing is "absent" then.

## The system

system-error =
    .not-found = ファイルまたはフォルダーが見つかりません ({ $text })
    .permission-denied = 権限がありません ({ $text })
    .already-exists = 既に存在します ({ $text })
    .not-a-directory = フォルダーではありません ({ $text })
    .is-a-directory = フォルダーです ({ $text })
    .storage-full = ディスクの空き容量がありません ({ $text })
    .read-only = 読み取り専用のファイルシステムです ({ $text })
    .connection-refused = 接続が拒否されました ({ $text })
    .connection-reset = 接続がリセットされました ({ $text })
    .host-unreachable = ホストに到達できません ({ $text })
    .network-unreachable = ネットワークに到達できません ({ $text })
    .timed-out = 時間内に応答がありませんでした ({ $text })
    .broken-pipe = パイプの相手が閉じられています ({ $text })

## Run files

error-file =
    .cannot = 実行記録 `{ $path }` を処理できません (操作: { $action })
    .cannot-open = 実行記録 `{ $path }` を開けません
    .cannot-read = 実行記録 `{ $path }` を読み取れません
    .cannot-write = 実行記録 `{ $path }` に書き込めません
    .cannot-lock = 実行記録 `{ $path }` をロックできません
    .cannot-sync-folder = 実行記録 `{ $path }` のフォルダーをディスクに同期できません
    .cannot-cut-line = 実行記録 `{ $path }` の途切れた最終行を削除できません
    .in-use = 別の linerate が実行記録 `{ $path }` に書き込んでいます
    .line = 実行記録 `{ $path }` の { $line } 行目を解釈できません: { $reason }
    .not-a-run = `{ $path }` はこのプログラムの実行記録ではありません: { $reason }
    .too-large = 実行記録 `{ $path }` が大きすぎます: { $reason }
    .empty = ファイルが空です
    .first-line-cut = 最初の行 (1 行目) が途中で切れています
    .no-header = 最初の行 (1 行目) が完全なヘッダーではありません: { $reason }
    .no-format = 最初の行 (1 行目) に `"format":"{ $format }"` がありません
    .version = 1 行目のバージョンは { $version } ですが、このプログラムが読み取れるのは 1～{ $known } です。{ $program ->
            [absent] linerate を更新してください
           *[other] 書き込んだのは `{ $program }` です。そのバージョンまたはそれより新しいバージョンで読み取ってください
        }
    .bad-header = ヘッダー (1 行目) が破損しています: { $reason }
    .bytes-of-line = { $line ->
            [absent] ある行
           *[other] { $line } 行目
        }が { $most } バイトを超えています
    .elements-of-line = { $line ->
            [absent] ある行
           *[other] { $line } 行目
        }のリストの要素が { $most } 個を超えています
    .in-line = { $line } 行目: { $reason }
    .up-to-line = { $line } 行目まで: { $reason }
    .many-trials = 試行が { $most } 回を超えています
    .many-schedules = 試行の予定が { $most } 件を超えています
    .bytes-of-trials = 試行のデータが { $most } バイトを超えています
    .bytes-of-records = 記録のデータが { $most } バイトを超えています
    .factors = 要因が { $number } 個あります。分析できるのは { $most } 個までです
    .levels-of-factor = 1 つの要因に水準が { $number } 個あります。分析できるのは { $most } 個までです
    .arms = 条件が { $number } 個あります。分析できるのは { $most } 個までです
    .levels-in-arm = 1 つの条件に水準が { $number } 個あります。分析できるのは { $most } 個までです
    .blocks = ブロックが { $number } 個あります。分析できるのは { $most } 個までです
    .trials = 試行が { $number } 回あります。分析できるのは { $most } 回までです
    .names = 全測定値の全条件にある水準名が合計 { $number } 個あります。分析できるのは { $most } 個までです
    .bytes-of-names = 水準名などの名前が合計 { $number } バイトあります。分析できるのは { $most } バイトまでです
    .folder = フォルダーです
    .not-regular = 通常のファイルではなく、パイプ、ソケット、またはデバイスです
    .not-utf-8 = { $line } 行目が UTF-8 のテキストではありません
    .long = { $most } を超えています
    .long-line = { $line } 行目が { $most } を超えています
    .long-to-line = { $line } 行目までで { $most } を超えています

## Plans and recipes

error-mistake =
    .on-line = { $line } 行目: { $reason }
    .factors = 要因が { $count } 個あります。指定できるのは 1～{ $most } 個です
    .factor-name = 要因の名前 `{ $name }` は使用できません: { $reason }
    .factor-reserved = `{ $name }` は要因の名前に使用できません
    .factor-again = 同じ名前 `{ $name }` の要因が 2 つあります
    .both-set = `{ $other }` と `{ $name }` の両方が `{ $place }` を設定しています
    .above-zero = `{ $name }` には 0 より大きく { $most } 以下の値を指定する必要がありますが、{ $value } です
    .band = `band_percent` には 0 以上 100 未満の値を指定する必要がありますが、{ $band } です
    .number = `{ $name }` には 1～{ $most } の値を指定する必要がありますが、{ $count } です
    .levels = `{ $factor }` の水準が { $count } 個あります。指定できるのは 2～{ $most } 個です
    .level-name = `{ $factor }` の水準の名前 `{ $name }` は使用できません: { $reason }
    .level-again = `{ $factor }` に同じ名前 `{ $name }` の水準が 2 つあります
    .levels-alike = `{ $factor }` の水準 `{ $other }` と `{ $name }` の設定が同じです
    .settings = `{ $factor }` の水準 `{ $name }` の設定項目が { $most } 個を超えています
    .set-again = `{ $factor }` の水準 `{ $name }` が `{ $place }` を 2 回設定しています
    .no-name = 名前が必要です
    .name-of-nothing = 表では「未測定」を意味します。別の名前にしてください
    .name-unprintable = 前後に空白があるか、表示できない文字が含まれています
    .name-of-pair = `a:b` は 2 つの要因の交互作用を表します。別の記号にしてください
    .name-long = { $most } 文字を超えています
    .one-line = タイトルと公表値は、{ $most } 文字以内の 1 行のテキストにする必要があります
    .tests = テストが { $count } 個あります。指定できるのは 1～{ $most } 個です
    .passes = `passes` は 1～{ $most }、`discard` は { $most } 以下にする必要があります
    .times = 時間は、1 回の反復では 0.05 秒～1 時間、それ以外では 1 時間以内にする必要があります
    .write-through = `write_through` を使うには、テストファイルに書き込むテストが必要です
    .file-size = テストファイルが { $most } バイトを超えています
    .test-again = 同じ名前 `{ $name }` のテストが 2 つあります
    .directions = `{ $name }` には `read`、`write`、またはその両方を、それぞれ 1 回だけ指定する必要があります
    .opposite = `{ $name }` の `other_way_percent` は 0～99 にする必要があります
    .block = `{ $name }` のブロックがテストファイルに収まりません
    .streams = `{ $name }` のストリームが { $count } 本あります。指定できるのは 1～{ $most } 本です
    .under-way = `{ $name }` の同時に実行する操作が { $count } 個あります。指定できるのは 1～{ $most } 個です
    .task-of-tcp = `{ $name }` に `task` がありますが、TCP 単体ではファイルを扱えません
    .of-task = `{ $name }` のタスク: { $reason }
    .task-direction = `{ $name }` には `directions = ["{ $direction }"]` が必要です
    .task-files = ファイル、ロック、またはフレームの数は 1～{ $most } にする必要があります
    .task-bytes = 転送量が { $most } バイトを超えています
    .spread = `spread` を使うには `size_max` が必要です
    .no-folders = ファイルが複数ある場合は `folders` が必要です
    .many-folders = フォルダーの数がファイルの数を超えています
    .empty-files = 0 バイトのファイルはコピーできません
    .size-max = `size_max` を `size` より小さくすることはできません
    .play = フレームのサイズは 1 バイト以上、フレーム数は毎秒 { $frames } 以下、先読みは { $ahead } 以下、ストリームは { $streams } 本以下にする必要があります

## What is kept or named on a disk

error-os =
    .cannot = `{ $path }` を処理できません (操作: { $action })
    .cannot-create = `{ $path }` を作成できません
    .cannot-find = `{ $path }` が見つかりません
    .cannot-follow = リンク `{ $path }` をたどれません
    .cannot-list = `{ $path }` の一覧を取得できません
    .cannot-look-at = `{ $path }` の情報を取得できません
    .cannot-make = フォルダー `{ $path }` を作成できません
    .cannot-name-new-file = `{ $path }` の新しいファイルに名前を付けられません
    .cannot-open = `{ $path }` を開けません
    .cannot-read = `{ $path }` を読み取れません
    .cannot-remove = `{ $path }` を削除できません
    .cannot-rename = `{ $path }` の名前を変更できません
    .cannot-sync = `{ $path }` をディスクに同期できません
    .cannot-write = `{ $path }` に書き込めません
    .not-regular = { $path ->
            [absent] {""}
           *[other] `{ $path }` は
        }通常のファイルではありません
    .hard-link = { $path ->
            [absent] {""}
           *[other] `{ $path }` には
        }別の名前 (ハードリンク) があります
    .no-such-name = { $path ->
            [absent] {""}
           *[other] `{ $path }` には
        }`{ $name }` という名前のファイルはありません
    .no-name = { $path ->
            [absent] {""}
           *[other] `{ $path }` は
        }ファイルの名前ではありません
    .link-not-written = { $path ->
            [absent] {""}
           *[other] `{ $path }` は
        }シンボリックリンクです。linerate はリンク先に書き込みません
    .link-not-followed = { $path ->
            [absent] {""}
           *[other] `{ $path }` は
        }シンボリックリンクです。linerate はここではリンクをたどりません
    .folder = { $path ->
            [absent] {""}
           *[other] `{ $path }` は
        }フォルダーです
    .not-a-folder = { $path ->
            [absent] {""}
           *[other] `{ $path }` は
        }フォルダーではありません
    .other-owner = { $path ->
            [absent] {""}
           *[other] `{ $path }` の
        }所有者はユーザー番号 { $user } です
    .owner-is-another = { $path ->
            [absent] {""}
           *[other] `{ $path }` の
        }所有者は別のユーザーです
    .written-by-group = { $path ->
            [absent] {""}
           *[other] `{ $path }` には
        }グループの全員が書き込めます
    .written-by-everybody = { $path ->
            [absent] {""}
           *[other] `{ $path }` には
        }すべてのユーザーが書き込めます
    .leads-out = { $path ->
            [absent] {""}
           *[other] `{ $path }` は
        }それを指定しているファイルのフォルダーの外を指しています
    .no-name-below = { $path ->
            [absent] {""}
           *[other] `{ $path }` は
        }それを指定しているファイルのフォルダー以下にあるファイルの名前ではありません
    .through-link = { $path ->
            [absent] {""}
           *[other] `{ $path }` は
        }シンボリックリンクであるか、途中にシンボリックリンクがあります。ここではリンクをたどりません
    .descriptor = { $path ->
            [absent] {""}
           *[other] `{ $path }` は
        }別のプログラムが開いたファイル記述子です。linerate はそれらを引き継ぎません
    .link-of-other = { $path ->
            [absent] {""}
           *[other] `{ $path }` は
        }ユーザー番号 { $user } が所有するシンボリックリンクです
    .no-path = { $path ->
            [absent] {""}
           *[other] `{ $path }` は
        }ここにパスのないもの (パイプ、または別のシステムのファイル) を指しています
    .exchanged = ここに作成したフォルダーを、別のユーザーがすり替えました
hint-os =
    .not-written-by-us = linerate が書き込んだものではありません。だれが書き込んだかを確認し、削除してください
    .not-made-by-us = linerate が作成したものではありません。だれが作成したかを確認し、削除してください
    .file-of-folder = そのフォルダーにあるファイルを指定してください
    .name-a-file = ファイルを指定してください
    .name-a-regular-file = 通常のファイルを指定してください
    .file-in-it = その中のファイルを指定してください
    .new-or-regular = まだ存在しないファイルか、通常のファイルを指定してください。`/dev/stdout` は通常のファイルではありません
    .copy-it = 追記した内容がもう一方の名前のファイルにも現れます。コピーして使ってください
    .folder-of-root = そのユーザーで linerate を実行するか、root のフォルダーを指定してください (状態の保存先は LINERATE_STATE_DIR)
    .own-folder = 自分のフォルダーを指定してください (状態の保存先は LINERATE_STATE_DIR)
    .chmod = 中身を確認してから `chmod go-w '{ $file }'` を実行するか、別の場所を指定してください
    .below = それを指定しているファイルのフォルダー、またはその下にファイルを置き、そこからの相対パスで指定してください
    .name-the-file = ファイルそのものを指定してください。プログラムの出力は、先にファイルに保存する必要があります
    .links-of-root = root は root が所有するリンクだけをたどります。リンク先を直接指定するか、そのユーザーで linerate を実行してください

## Tables, and results of other programs

error-table =
    .too-large = 表が大きすぎます ({ $what } の上限は { $limit }){ $line ->
            [absent] {""}
           *[other] {" "}({ $line } 行目)
        }
    .many-bytes = 表が { $limit } バイトを超えています{ $line ->
            [absent] {""}
           *[other] {" "}({ $line } 行目)
        }
    .many-columns = 表の列が { $limit } 列を超えています{ $line ->
            [absent] {""}
           *[other] {" "}({ $line } 行目)
        }
    .many-rows = 表の行が { $limit } 行を超えています{ $line ->
            [absent] {""}
           *[other] {" "}({ $line } 行目)
        }
    .many-cells = 表のセルが { $limit } 個を超えています{ $line ->
            [absent] {""}
           *[other] {" "}({ $line } 行目)
        }
    .bytes-in-cells = 表のセルの内容が { $limit } バイトを超えています{ $line ->
            [absent] {""}
           *[other] {" "}({ $line } 行目)
        }
    .many-parameters = 表から推定するパラメーターが { $limit } 個を超えています{ $line ->
            [absent] {""}
           *[other] {" "}({ $line } 行目)
        }
    .rows-times-parameters = 表の行数とパラメーター数の積が { $limit } を超えています{ $line ->
            [absent] {""}
           *[other] {" "}({ $line } 行目)
        }
    .many-arms = 表の条件が { $limit } 個を超えています{ $line ->
            [absent] {""}
           *[other] {" "}({ $line } 行目)
        }
    .many-runs = 表の実行が { $limit } 回を超えています{ $line ->
            [absent] {""}
           *[other] {" "}({ $line } 行目)
        }
    .none = 表に必要なものがありません: { $what }
    .no-header = 表にヘッダーがありません
    .no-data = 表にデータの行がありません
    .no-arms = 表に条件がありません
    .ragged = データの { $row } 行目 (ファイルの { $line } 行目) のセルは { $cells } 個ですが、ヘッダーは { $columns } 個です
    .long-cell = データの { $row } 行目 (ファイルの { $line } 行目)、列 `{ $column }`: セルが { $most } バイトを超えています
    .csv = 表を CSV として読み取れません
    .duplicate-column = ヘッダーに列 `{ $column }` が 2 回あります
    .not-a-number = データの { $row } 行目、列 `{ $column }`: `{ $cell }` は数値ではありません
    .json = JSON です。表ではありません
    .no-rows = `{ $response }` について、すべての値がそろった行がありません
    .one-level = 要因 `{ $factor }` の水準は、{ $rows } 行すべてで `{ $level }` だけです
    .no-baseline = `{ $response }` についてすべての値がそろった行に、比較の基準となる `{ $factor }={ $level }` がありません
    .many-levels = 要因 `{ $factor }` の水準が { $most } 個を超えています
    .few-rows = `{ $response }` の { $rows } 行では、{ $parameters } 個のパラメーターを区別できません
    .all-equal = `{ $response }` の値は、すべての行で同じ { $value } です
    .out-of-range = `{ $response }` の値が大きすぎるか小さすぎるため、計算できません
    .no-such-column = 列 `{ $column }` はありません
    .no-such-level = 列 `{ $column }` に `{ $cell }` はありません
    .two-roles = 列 `{ $column }` が、要因、測定値、またはブロックとして 2 回指定されています
    .no-factor = 要因が指定されていません
    .no-response = 測定値の列が指定されていません
    .bad-interaction = `{ $name }` は 2 つの要因の交互作用ではありません
    .not-a-factor = `{ $column }` に基準が指定されていますが、要因ではありません
    .band = 同等とみなす幅は 0 % 以上 100 % 未満にする必要がありますが、{ $percent } % です
    .one-arm = 条件が `{ $arm }` しかないため、比較する対象がありません
    .different-arms = 条件 `{ $arm }` にあるのは { $own } ですが、条件 `{ $first }` にあるのは { $others } です
    .arm = 条件 `{ $arm }`: { $reason }
    .arm-json = 条件 `{ $arm }`: JSON を読み取れません ({ $line } 行目): { $reason }
    .large-file = ファイルが { $most } MiB を超えています
    .empty-file = ファイルが空です
    .unknown-file = CrystalDiskMark、ATTO、DiskSpd、robocopy、iperf3、fio、hyperfine のいずれの結果ファイルでもありません
    .unknown-json = iperf3、fio、hyperfine のいずれの結果でもありません
    .failed-run = 実行に失敗しています: { $reason }
    .failed-job = fio のジョブ `{ $job }` がエラー { $error } で失敗しています
    .stream-of-events = イベントの列であり、iperf3 の単独の結果ではありません
    .stopped-iperf3 = iperf3 は結果を書き込む前に停止されています
    .nothing-measured = 測定値が含まれていません
    .bad-value = 負の値、または数値でない値が含まれています
    .long-job = ジョブの名前 `{ $job }` が { $most } バイトを超えています
    .no-run-ended-well = `{ $command }` の実行はすべて失敗しています: { $how }
    .exit-code = 終了コード { $codes }
    .exit-codes = 終了コード { $codes }
    .exit-code-or-signal = 終了コード { $codes }、シグナルによる終了
    .exit-codes-or-signal = 終了コード { $codes }、シグナルによる終了
    .by-signal = シグナルによる終了
    .runs-in-file = 実行が { $most } 回を超えています
    .results-in-file = 結果が { $most } 件を超えています
    .results-of-run = { $run } 回目の実行の結果が { $most } 件を超えています
    .of-run = { $run } 回目の実行: { $reason }
    .no-result = { $program } のファイルですが、結果が含まれていません
    .no-totals = `total:` の行に数値がありません
    .not-copied = { $files } 個のファイルがコピーされていません
    .no-speed = 速度が記載されていません。何もコピーされなかったか、途中で停止されています
hint-table =
    .part-of-it = 行、列、または要因を減らして、一部を分析してください
    .header-and-rows = 1 行目に列の名前を書き、その下の各行に測定値を 1 件ずつ書いてください
    .cell-per-column = 1 列に 1 つずつセルを書いてください。区切り文字を含むセルは引用符で囲み、小数点にはピリオドを使ってください
    .save-as-csv = UTF-8 の CSV で保存し、閉じていない引用符がないか確認してください
    .empty-cells = 測定値の列と要因の列に、空のセルがないか確認してください
    .own-names = 列の名前が重複しないようにしてください
    .columns = 列は { $columns } です。この中から指定してください
    .each-once = 各列は、測定値、要因、ブロックのいずれかとして 1 回だけ指定してください
    .name-factors = 変更した項目の列を指定してください。交互作用 `a:b` は、`a,b,a:b` のように 2 つの要因の後に書いてください
    .name-response = 測定値の列を指定してください
    .interaction = `a:b` の形で、要因として指定した異なる 2 つの列を書いてください
    .vary-it = 要因から外すか、この要因の値が異なる行を残してください
    .baseline = それも測定するか、`--baseline` で別の基準を指定してください
    .a-measurement = 測定値のようです。測定値の列として指定するか、値をグループ分けしてください
    .cells = この列にあるのは { $cells } です。この中から指定してください
    .name-it-too = 要因としても指定してください
    .more-rows = 測定する行を増やすか、要因と交互作用を減らしてください
    .right-column = 比較できる差がありません。列またはファイルの指定が正しいか確認してください
    .other-unit = より大きいか小さい単位で書いてください
    .usual-band = 通常は 2 (基準の 2 パーセント) を指定してください
    .as-arms = iperf3、fio、hyperfine の結果は、`NAME=FILE NAME=FILE` の形で条件として指定してください
    .two-arms = `before=FILE after=FILE` のように、2 つ以上の条件を指定してください
    .same-measurement = 同じプログラムによる同じ測定どうしを比較してください
    .known-programs = 正常に終了した `iperf3 --json`、`fio --output-format=json`、`hyperfine --export-json` の出力か、CrystalDiskMark、ATTO、DiskSpd、robocopy のテキストを指定してください
    .point-of-thousands = ほかの数値から見て、ピリオドは桁区切りの可能性があります。整数は `1234` のように区切りなしで、小数は `1.2340` のように小数部を 3 桁以外にして書いてください
    .too-large-number = 大きすぎて計算できません。より大きいか小さい単位で書いてください
    .decimal-point = `1234.5` のように、小数点にはピリオドを使い、桁区切りなしで書いてください
    .number-alone = 数値だけを書いてください。単位は `read_mb_s` のように列の名前に含めてください
    .no-number = 測定していない箇所はセルを空にしてください。文字列の列は要因として指定してください

## Experiments

error-experiment =
    .plan = この計画は実行できません: { $reason }
    .start = 開始時の設定を読み取れません: { $reason }
    .record = 実行記録に書き込めないため、続行できません。変更はすべて元に戻しました
    .not-restored = 変更を元に戻せませんでした: { $reason }
    .no-reason = 理由は不明です
    .confidence = 信頼度 { $confidence } は不正な値です。通常は 0.95 です
    .band = 同等とみなす幅 { $band } は不正な値です。通常は 0.02 です
    .blocks = { $blocks } ブロックが指定されました。信頼度 { $confidence } には { $least } ブロック必要で、上限は { $most } ブロックです
    .responses = 測定する方向は 1 つ以上、それぞれ 1 回だけ指定する必要があります
    .nothing-to-try = 試すものがありません
    .name-taken = 名前 `{ $name }` はすでに使われています
    .sets-nothing = `{ $name }` は何も設定しません
    .sets-again = `{ $name }` は同じ項目を 2 回設定しています
    .candidates = 候補の上限は { $most } 件です
    .few-trials = { $trials } 回の試行では足りません。効果を見つけて実証するには { $least } 回必要です
    .nothing-varied = 変更する要因がありません
    .one-level = `{ $factor }` の水準が 1 つしかありません
    .arms = 条件が { $count } 個あります。上限は { $most } 個です
    .full-factorial = 完全実施要因計画では条件が { $most } 個を超えます。一部実施要因計画を指定してください
    .fraction-levels = 一部実施要因計画では各要因の水準を 2 つにする必要がありますが、`{ $factor }` の水準は { $levels } 個です
    .fraction-factors = 一部実施要因計画に使える要因の数は { $least }～8 で、{ $factors } には対応していません
    .no-arm = 条件 { $arm } はありません
    .not-set = `{ $level }` が設定されていません
    .other-value = { $place } の読み取り値は `{ $found }` ですが、`{ $wanted }` である必要があります
    .not-read = { $place } を読み戻せませんでした
    .other-number = 読み戻した設定は { $found } 件で、本来の { $wanted } 件と一致しません
    .knob = `{ $host }` の `{ $target }` の `{ $knob }`
    .workload-field = 負荷の `{ $field }`
    .did-not-last = 測定対象の設定が、測定の終わりまで維持されませんでした
    .did-nothing = 試行で何も処理されませんでした
    .other-settings-read = 読み取った設定が、要求した設定と一致しません

## What a sandbox lacks

sandbox =
    .unknown = このシステムのサンドボックスには対応していません
    .keeps-root = root 権限が残っています
    .files-open = 開くことのできるファイルをカーネルが制限していません (landlock)
    .files-partly-open = 開くことのできるファイルをカーネルが一部しか制限していません (landlock)
    .calls-unfiltered = 実行できるシステムコールが制限されていません (seccomp)
