# Errors of commands: what they begin with, and what is wrong with files.

failure =
    .error = エラー
    .because = 原因
    .chain = { $above }: { $below }
    .hint = ヒント
hint-file =
    .path = パス、権限、ディスクの空き容量を確認してください
    .folder = フォルダー、権限、ディスクの空き容量を確認してください
    .in-use = 実行中の処理が終わるのを待つか、そちらで Ctrl-C で停止してから再実行してください
    .altered = ファイルが変更されています。破損していないコピーを使ってください
    .too-large = linerate 自身が書き込んだファイルを指定してください。長い実験は複数回の実行に分けます
    .not-a-run = `check`、`bench`、`tune`、`experiment` のいずれかが書き込んだファイルを指定してください
