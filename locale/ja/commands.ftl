# What commands say while they work.
# An argument that may be missing is "absent" then.

## Progress

stage =
    .path = 経路を調べています
    .ladder = 速度が失われる段階を測定しています
    .cause = { $cause } を検証しています
    .kind-of-limit = 制限の種類を調べています
    .hidden-limits = 互いに隠れている制限を探しています
    .baseline = { $experiment }: 同じ設定どうしの比較 (試行 { $trials } 回)
    .compare = { $experiment }: 比較 (試行 { $trials } 回)
    .confirm = { $experiment }: 新しい試行で確認 (試行 { $trials } 回)
    .round = { $what } (試行 { $trials } 回)
    .repetitions = { $count } 回測定しています
step =
    .tcp = TCP 単体 { $direction }
    .share = 共有 { $direction }
    .folder = フォルダー { $direction }
    .login = ログイン { $direction }
    .server-disk = サーバーのディスク { $direction }
    .copy = ローカルディスクへのコピー { $direction }
    .small-files = 小さなファイル { $direction }
    .setting = { $level } を設定しています
    .block = ブロック { $block }、条件 { $arm }、{ $direction }{ $discarded ->
            [absent] {""}
           *[other] {" "}(集計対象外)
        }
    .restoring = すべて元に戻しています

## Remarks

trial-failed = 試行が失敗しました: { $reason }
server-untold = 注意: { $server } の情報を取得できないため、なしで続行します: { $reason }
candidate-untried =
    .not-kept = 試しません: `{ $id }` は再起動後に維持できません: { $reason }
    .too-many = 試しません: `{ $id }`: 候補が { $most } 件を超えています
    .blocked = 試しません: { $text }: { $reason }
    .budget = { $seconds } 秒ではすべてを試せません。試さないもの: { $names }
written-file =
    .run = 実行記録: { $path }
    .report = レポート: { $path }
