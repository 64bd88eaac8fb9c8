# Errors, hints and what else is said by the commands that show and change settings, and put them back.
# An argument that may be missing is "absent" then.

## Errors

error-change =
    .session-dead = セッションの維持が確認されなかったため、すべて元に戻しました
    .sets-nothing = `{ $text }` は設定の指定として正しくありません
    .no-journal = ジャーナルなしで設定を変更しようとしました
    .no-carrier = { $host } の `{ $nic }` がリンクアップしていません
    .ambiguous = `{ $id }` に該当する変更が複数あります: { $changes }
    .change-in-journal = `{ $folder }` の `{ $change }`
    .one-more = { $first }、{ $next }
    .no-such-knob = 設定項目 `{ $id }` はありません
    .no-such-nic = { $host } にインターフェイス `{ $nic }` はありません
    .no-rule = プロファイル `{ $profile }` に `{ $id }` のルールはありません
    .no-time = `{ $text }` は時間の指定として正しくありません
    .rights-kept = 権限を放棄できません
    .sandbox-unknown = サンドボックスに欠けているものを確認できません

## Hints

hint-change =
    .without = `--without ID` を付けると、プロファイルのうちその設定項目を変更しません
    .setting-as = `ID=VALUE` の形式で指定してください。対象は `@` の後に指定します: `nic.mtu@eth0=9000`、`smb.server.sendfile@media=on`
    .stays = 再起動後も、`linerate undo { $id }` を実行するまで維持されます
    .stays-until-reboot = 再起動するか `linerate undo { $id }` を実行するまで維持されます。`--persist` を付けると再起動後も維持されます
    .no-carrier = ケーブルと相手側を確認してください。設定は `linerate undo` で元に戻せます
    .undo = すべて元に戻すには `linerate undo`、1 つの変更だけを元に戻すには `linerate undo CHANGE` を実行してください
    .foreign = ほかから変更された設定を上書きするには `--force` を付けてください
    .failed = 失敗したものはジャーナルに残ります。もう一度試すには `linerate undo` を実行してください
    .in-full = 完全な ID を指定してください
    .leftovers = `linerate changes` で確認し、`linerate undo` で元に戻せます
    .there-are = 次のいずれかを指定してください: { $names }
    .explain = 各設定の説明は `linerate inspect --explain ID` で確認できます
    .rules-of-one = プロファイルのルールは `linerate profiles NAME` で確認できます
    .its-rules = このプロファイルのルールは `linerate profiles { $name }` で確認してください
    .time-as = `0.3ms` や `20ms` のように指定してください

## What is no error

told-change =
    .hint = ヒント: { $hint }
    .damaged = 警告: { $error }
    .leftovers = 警告: { $runs } が変更した設定が残っています。処理が途中で打ち切られたか、まだ実行中です。これから測定する結果は、その設定の影響を受けます
    .unproven = 警告: { $host }: { $reason }
    .no-own-profile = 警告: `{ $folder }` のプロファイルは使用しません: { $reason }
    .lease = { $host } は、{ $seconds } 秒間通信がない場合、自動的に設定を元に戻します
    .so-already = すでにその設定になっています。何も変更していません
    .would-run = 実行する予定のコマンド:
    .nothing-was-changed = 何も変更していません
    .nothing-is-changed = 変更中の設定はありません
    .nothing-to-undo = 変更中の設定がないため、元に戻すものはありません
    .column-host = ホスト
    .column-setting = 設定
    .column-before = 変更前
    .column-now = 現在
    .column-would-be = 変更後 (予定)
    .column-change = 変更
    .column-before-and-now = 変更前 -> 現在
    .column-state = 状態
    .column-run = 実行
    .column-since = 変更日時 (UTC)
    .column-before-and-changed = 変更前 -> 変更後
    .column-reads-now = 現在の値
    .column-outcome = 結果
    .column-is = 現在の値
    .column-could-be = 設定できる値
    .column-rule-of-thumb = 目安
    .kept = 維持中
    .unfinished = 未完了
    .not-known = 不明
    .as-before = 変更前のまま (処理不要)
    .put-back = 元に戻しました
    .sibling-put-back = 連動して変わったため、元に戻しました
    .set-by-others = ほかから変更されたため、そのままにしました
    .restarted = 変更後にホストが再起動しています
    .other-machine = 別のコンピューターが応答しているため、そのままにしました
    .failed = 失敗しました: { $reason }
    .would-put-back = 元に戻す予定です
    .no-contradiction = 両端の間に矛盾はありません
    .host = { $host }: { $system } { $kernel }、CPU { $cores } コア{ $memory ->
            [absent] {""}
           *[other] 、メモリー { $memory }
        }
    .a-tunnel = トンネル
    .link-up = リンクアップ
    .link-down = リンクダウン
    .link-unknown = 状態不明
    .share = 共有 { $name }
    .mount = マウント { $folder }
    .not-there = 使用不可: { $names }: { $reason }
    .differs = 不一致
    .range = { $least }～{ $most }
    .three-sizes = 3 つのサイズ
    .one-processor = 唯一の CPU
    .processors = CPU { $first }～{ $last }
    .bytes = { $count } バイト
    .or-unset = { $values }、または unset
    .if-unset = { $values } (未設定時は { $value })
    .with-remark = { $values }。{ $remark }
    .from = ファイル: { $file }
    .at-least = { $value } 以上
    .at-most = { $value } 以下
    .speed-from = 速度 { $limit } 以上
    .speed-below = 速度 { $limit } 未満
    .round-trip-from = 往復時間 { $limit } 以上
    .round-trip-below = 往復時間 { $limit } 未満
    .processors-from = CPU 数 { $limit } 以上
    .processors-below = CPU 数 { $limit } 未満
    .mtu-from = MTU { $limit } 以上
    .mtu-below = MTU { $limit } 未満
    .driver = ドライバー { $drivers }
    .or = { $first } または { $next }
    .at-client = クライアント側
    .at-server = サーバー側
    .profile-changes = { $host } でのプロファイル { $profile }:
    .profile-changes-nothing = プロファイル { $profile } によって { $host } で変更される設定はありません
    .not-for-here = 対象外: { $names }: { $reason }
    .already-so = 設定済み: { $names }
