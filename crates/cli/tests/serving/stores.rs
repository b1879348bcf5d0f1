//! Stores as users move and check them: from one file to a database, and back.

use portcullis_database::Database;

use super::house::{Daemon, Home, json};

fn serve(home: Home, store: &str) -> Daemon {
    let mut command = home.serving();
    command.args(["--store", store]);
    home.serve_by(command)
}

#[test]
fn what_is_moved_is_there_and_goes_on() {
    let database = Database::start(&["fsync=off"]).unwrap();
    let home = Home::new();
    let file = format!("sqlite:{}", home.data("portcullis.db").display());
    let shared = database.address();
    let daemon = serve(home, &file);
    assert_eq!(daemon.says(&["call", "npm publish", "--session", "s", "--wait", "0"]).code, 3);
    let approved =
        daemon.says(&["approve", "latest", "--scope", "session", "--rule", "Bash(npm publish:*)"]);
    assert_eq!(approved.code, 0, "{}", approved.error);
    assert_eq!(daemon.says(&["call", "git push", "--wait", "0"]).code, 3);
    let home = daemon.stop();
    let whole = home.says(&["store", "check", "--store", &file]);
    assert_eq!(whole.code, 0, "{}{}", whole.out, whole.error);
    assert!(whole.out.starts_with("the store answers; 1 asks are pending\n"), "{}", whole.out);

    let moved = home.says(&["store", "migrate", "--from", &file, "--to", &shared]);
    assert_eq!(moved.code, 0, "{}{}", moved.out, moved.error);
    assert!(moved.out.contains("asks         2 rows, read again and the same\n"), "{}", moved.out);
    assert!(!format!("{}{}", moved.out, moved.error).contains("portcullis:"), "no password");
    let twice = home.says(&["store", "migrate", "--from", &file, "--to", &shared]);
    assert_eq!(twice.code, 2, "it is not empty: {}", twice.out);
    assert!(twice.error.contains("empty"), "{}", twice.error);
    let same = home.says(&["store", "migrate", "--from", &file, "--to", &file]);
    assert!(same.error.contains("both stores are the same"), "{}", same.error);

    // The grant counts, the ask waits, and the keys open the door.
    let daemon = serve(home, &shared);
    assert_eq!(daemon.says(&["call", "npm publish", "--session", "s", "--wait", "0"]).code, 0);
    let asks = json(&daemon.says(&["asks", "--json"]).out);
    assert_eq!(asks["asks"][0]["call"]["input"]["command"], "git push");
    assert_eq!(daemon.says(&["reject", "latest"]).code, 0);
    let home = daemon.stop();
    let whole = home.says(&["store", "check", "--store", &shared, "--json"]);
    assert_eq!(whole.code, 0, "{}{}", whole.out, whole.error);

    let back = format!("sqlite:{}", home.data("back.db").display());
    let moved = home.says(&["store", "migrate", "--from", &shared, "--to", &back, "--json"]);
    assert_eq!(moved.code, 0, "{}{}", moved.out, moved.error);
    assert_eq!(json(moved.out.lines().next().unwrap())["tables"]["asks"], 2);
    let daemon = serve(home, &back);
    assert_eq!(daemon.says(&["asks"]).out, "nothing waits for you\n");
    let verified = daemon.says(&["audit", "verify"]);
    assert_eq!(verified.code, 0, "{}{}", verified.out, verified.error);
}

#[test]
fn a_store_that_was_changed_is_not_whole() {
    let daemon = serve(Home::new(), "");
    assert_eq!(daemon.says(&["call", "ls"]).code, 0);
    let home = daemon.stop();
    let whole = home.says(&["store", "check"]);
    assert_eq!(whole.code, 0, "{}", whole.error);
    assert!(!whole.out.contains("not checked"), "its own key is at hand: {}", whole.out);
    let stranger = home.0.join("stranger.pub");
    std::fs::write(&stranger, "ab".repeat(32)).unwrap();
    let unsigned = home.says(&["store", "check", "--public-key", stranger.to_str().unwrap()]);
    assert!(unsigned.out.contains("not signed with this key"), "{}", unsigned.out);
    assert_eq!(unsigned.code, 1);
    let db = rusqlite::Connection::open(home.data("portcullis.db")).unwrap();
    let forged = "UPDATE audit SET data = replace(data, '\"allow\"', '\"deny\"') \
        WHERE kind = 'call.judged'";
    assert_eq!(db.execute(forged, []).unwrap(), 1);
    drop(db);
    let broken = home.says(&["store", "check"]);
    assert_eq!(broken.code, 1, "{}{}", broken.out, broken.error);
    assert!(broken.out.contains("its content was changed"), "{}", broken.out);
    let nobody = home.says(&["store", "check", "--store", "postgres://a:secret@127.0.0.1:1/x"]);
    assert_eq!(nobody.code, 2);
    assert!(!nobody.error.contains("secret"), "{}", nobody.error);
}
