# Errors, hints and what else is said by `copy` and `ls`, and of shares and logins as people type them.
# An argument that may be missing is "absent" then.

## Errors

error-copy =
    .no-share = コピー元もコピー先も共有ではありません
    .delete-of-several = `--delete` を使えるのは、コピー元が 1 つの場合だけです
    .not-a-share = `{ $text }` は共有の指定として正しくありません: { $why }
    .address-without-share = 共有名がありません
    .address-begin = `smb://`、`//`、`\\` のいずれでも始まっていません
    .address-control = 制御文字が含まれています
    .address-password = パスワードを含めることはできません
    .address-port = ポート番号が正しくありません
    .address-empty = ホスト名またはユーザー名が空です
    .address-dots = `.` と `..` は使えません
    .user-and-anonymous = 共有の指定にユーザー `{ $user }` が含まれていますが、`--anonymous` は匿名ログインの指定です
    .two-users = 共有の指定のユーザーは `{ $user }` ですが、資格情報ファイルのユーザーは `{ $of-file }` です
    .no-dialect = 使用できるダイアレクトがありません。下限のダイアレクトが上限より新しくなっています
    .too-old-to-encrypt = SMB 3.0 より前のダイアレクトでは暗号化できません
    .no-key = パスワードを使わないセッションには、署名や暗号化に使う鍵がありません
    .no-user = ユーザー名が指定されていません
    .no-user-and-ticket = ユーザー名が指定されておらず、使用できるチケットもありません
    .no-password = `{ $user }` のパスワードが指定されていません
    .no-password-and-ticket = `{ $user }` のパスワードが指定されておらず、使用できるチケットもありません
    .password-not-utf8 = { $variable } が UTF-8 ではありません
    .password-unread = パスワードを読み取れません
    .credentials-unread = 資格情報ファイル `{ $path }` を読み取れません
    .credentials-incomplete = 資格情報ファイル `{ $path }` に必要な行がありません

## Hints

hint-copy =
    .resume = 書きかけのファイルが、完成したファイルのように残っていることはありません。同じコマンドに `--resume` を付けると、残っている書きかけの部分 (`~….linerate-part`) も使って、残りを再開できます
    .then-resume = { $first }。その後、同じコマンドに `--resume` を付けると、残っている書きかけの部分 (`~….linerate-part`) も使って、残りを再開できます
    .resume-parts = 同じコマンドに `--resume` を付けると、中断されたファイルをもう一度コピーします。残っている書きかけの部分 (`~….linerate-part`) は、続きから再開されます
    .resume-it = 同じコマンドに `--resume` を付けると、続きから再開できます
    .one-end = コピー元またはコピー先を `smb://user@host/share/file` の形式で指定してください
    .one-by-one = あるコピー元にないファイルが、別のコピー元にはある可能性があります。1 つずつコピーしてください
    .force = 置き換えるには `--force` を、コピー元のほうが新しい場合だけ置き換えるには `--update` を付けてください
    .force-all = すでに存在するものは、`--force` を付けると置き換え、`--update` を付けるとコピー元のほうが新しい場合だけ置き換えます。`--resume` を付けると、サイズとタイムスタンプが同じコピーは飛ばします
    .path = パスを確認してください。共有の中のパスは、共有の最上位フォルダーから指定します
    .right = サーバーで、ユーザーに必要なアクセス許可を与えてください
    .disk-full = コピー先の空き容量を増やしてから、同じコマンドに `--resume` を付けて実行してください。残りを再開できます。書きかけのファイルが、完成したファイルのように残っていることはありません
    .unsigned = ユーザーとしてログインし、`--sign` を外してください。`--allow-unsigned` を付けると、この警告なしで署名せずにコピーします
    .name-of-domain = ドメインに登録されている名前でサーバーを指定してください。`--ntlm` を付けると、このメッセージなしで NTLM を使います
    .find-kdc = `--kerberos` を付けるとドメイン名から KDC を検索し、`--kdc HOST` を付けると指定した KDC に問い合わせます
    .map-names = `--map-names` を付けると、共有で使えない名前のほとんどをコピーできます
    .written-again = { $files }を少しずつ書き込み直しました。`--verify` を付けると、このサーバーにコピーした内容をすべて検証します
    .list-all = すべて表示するには `-v` を付けてください
    .share-as = `smb://user@host/share/folder`、`//host/share`、`\\host\share` のいずれかの形式で指定してください
    .password = `--credentials FILE` または環境変数 LINERATE_PASSWORD を使ってください
    .leave-one-out = どちらか一方だけを指定してください
    .swap-dialects = `--dialect-min` と `--dialect-max` の値を入れ替えてください
    .newer-dialect = `--encrypt` を外すか、`--dialect-max` に 3.0 以降を指定してください
    .no-key = ユーザーとしてログインするか、`--sign required`、`--as windows-11`、`--encrypt` を外してください
    .user = 共有を `smb://user@host/share` の形式で指定するか、`--credentials FILE` を使用するか、`--guest` または `--anonymous` を付けてください
    .give-password = `--credentials FILE` (`username=` と `password=` の行) を使用するか、{ $variable } を設定してください
    .credentials-file = `username=`、`password=`、および必要に応じて `domain=` の行を含む通常のファイルを指定してください
    .credentials-lines = `username=NAME` と `password=PASSWORD` の行を追加してください
    .icacls = icacls "{ $path }" /inheritance:r /grant:r "%USERNAME%:R" を実行してください
    .chmod = chmod 600 { $path } を実行してください

## What is no error

told-copy =
    .would-copy = コピーする予定: { $path }: { $size }
    .would-link = コピーする予定: { $path }: リンク
    .would-remove = 削除する予定: { $path }
    .reconnecting = `{ $server }` に再接続しています
    .lost = `{ $server }` との接続が切断されました。間隔を延ばしながら再接続を試みます
    .connected-again = { $seconds } 秒後に `{ $server }` に再接続しました
    .stopping = 完了していないファイルを、削除するか `--resume` 用に残します
    .left = ただちに終了しました
    .unsigned = 署名なし: `{ $server }` との通信は、経路上のだれでも読み取りや改ざんができ、改ざんされてもコピーからは分かりません
    .posix-server = `{ $server }` は SMB 3.1.1 の POSIX 拡張に対応しています。名前、モード、リンクはそのまま保持されます
    .by-ntlm = Kerberos ではなく NTLM でログインしました: { $reason }{ $also ->
            [absent] {""}
           *[other] 。また、{ $also }
        }
    .ticket-for-address = `{ $server }` はアドレスですが、チケットは名前に対して発行されます
    .no-kdc = `{ $user }` のドメインの KDC が分かりません
    .no-ticket = チケットを使用しません: { $reason }
    .password = { $server } の { $user } のパスワード:
    .readable = 警告: 資格情報ファイル `{ $path }` をほかのユーザーが読み取れます
    .not-copied = コピーされなかったもの:
    .more = ほか { $count } 個
    .data-lost = サーバーで { $files }のデータが失われました。最初のものは `{ $path }` です: { $reason }
    .streams = { $files }の代替データストリームはコピーしていません。最初のものは `{ $path }` の `{ $stream }` です
    .without = { $count } 個をコピーしましたが、タイムスタンプ、モード、属性のいずれかが保持されませんでした。最初のものは `{ $path }` です: { $reason }
    .would-copy-all = { $from } を { $to } にコピーする予定です: { $files }、{ $size }、{ $channels } チャネル
    .copied = { $from } -> { $to }: { $files }、{ $size }、{ $seconds } 秒{ $rate ->
            [absent] {""}
           *[other] {" "}({ $rate })
        }
    .before-the-end = 終了するまでにコピーしたもの: { $copied }、{ $size } (見つかったのは { $found })
    .by-server = { $size } はサーバー自身がコピーしました
    .through-here = このコンピューターを経由して転送しました: { $reason }
    .not-used = 使用していません: { $reason }
    .no-chains = `{ $server }` は、連結された応答をパディングなしで署名しており、MS-SMB2 3.1.4.1 に違反しています。要求を連結せずに 1 つずつ送信します
    .channel = { $local } -> { $remote }: { $size }{ $session ->
            [absent] {""}
           *[other] {" "}(セッション { $session })
        }
    .count-verified = { $count } ファイルを読み戻し、一致することを確認しました
    .count-links = シンボリックリンク { $count } 個
    .count-unchanged = { $count } ファイルはすでにコピーされています
    .count-newer = { $count } ファイルはコピー先のほうが新しいため、そのまま残しました
    .count-deleted = { $count } 個をコピー先から削除しました
    .count-would-delete = { $count } 個をコピー先から削除します
    .count-kept = { $count } 個は、同じフォルダーにコピーできなかったものがあるか、確認後に入れ替わったか、除外したファイルを含む可能性があるフォルダーのため、削除しませんでした
    .count-skipped = { $count } 個を対象外としました (リンク、デバイスなど)
    .count-unfinished = { $count } 個を対象外としました (名前が `~….linerate-part` や `-record` で、完了していないコピーの一部であるもの)
    .count-filtered = { $count } 個を `--include` と `--exclude` により除外しました
    .count-failed = { $count } 個はコピーされませんでした
    .proven-sent = 確認済み: サーバーから読み戻した内容は、ここで読み取った内容と一致し、経路上で改ざんされていません。未確認: データがすでにサーバーのディスクに書き込まれていること
    .proven-sent-unsigned = 確認済み: サーバーから読み戻して受信した内容は、ここで読み取った内容と一致します。未確認: サーバーにある内容も同じであること (署名も暗号化もされていないため、経路上で変更されていても分かりません) と、データがすでにサーバーのディスクに書き込まれていること
    .proven-received = 確認済み: ここにある内容は、サーバーが送信した内容と一致し、経路上で改ざんされていません。未確認: データがすでにこのコンピューターのディスクに書き込まれていること
    .proven-received-unsigned = 確認済み: ここにある内容は、受信した内容と一致します。未確認: サーバーが送信した内容も同じであること (署名も暗号化もされていないため、経路上で変更されていても分かりません) と、データがすでにこのコンピューターのディスクに書き込まれていること
    .column-share = 共有
    .column-kind = 種類
    .column-comment = コメント
    .share-of-files = ファイル
    .share-of-printer = プリンター
    .share-of-pipes = 名前付きパイプ
    .share-of-others = その他
    .posix-share = この共有は SMB 3.1.1 の POSIX 拡張に対応しています。名前とモードは Unix のものです
    .odd-name = ここには linerate で扱えない名前が 1 つあり、その名前のものにはアクセスできません: `{ $name }`: { $reason }
    .odd-names = ここには linerate で扱えない名前が { $count } 個あり、それらの名前のものにはアクセスできません。最初のものは次のとおりです: `{ $name }`: { $reason }
    .symbolic-link = シンボリックリンク
    .junction = ジャンクション
    .unix-link = Unix のリンク
    .unix-special = Unix のパイプ、ソケット、またはデバイス
    .deduplicated = 重複除去済み
    .in-a-cloud = クラウド上
    .on-another-server = 別のサーバー上 (DFS)
    .other-link = 種類 { $tag } のリンク
    .reparse-point = 再解析ポイント { $tag }
