//! The examples of deployment, as far as they can be played without containers: what they start is
//! started, with their files and variables, and what they look at answers.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};

use portcullis_database::Database;
use yaml_rust2::{Yaml, YamlLoader};

use crate::house::{Daemon, Home};

fn packaging(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging").join(file)
}

fn documents(file: &str) -> Vec<Yaml> {
    let text = fs::read_to_string(packaging(file)).unwrap();
    YamlLoader::load_from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn texts(list: &Yaml) -> Vec<String> {
    list.as_vec().into_iter().flatten().map(|one| one.as_str().unwrap().to_owned()).collect()
}

/// What a node answers to a question without a key that names this host.
fn get(daemon: &Daemon, host: &str, path: &str, key: Option<&str>) -> (u16, String) {
    let mut stream = TcpStream::connect(daemon.url.strip_prefix("http://").unwrap()).unwrap();
    let key = key.map(|key| format!("Authorization: Bearer {key}\r\n")).unwrap_or_default();
    let head = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{key}Connection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    (answer.split(' ').nth(1).unwrap().parse().unwrap(), answer)
}

/// Every name in a text that begins with a word.
fn names(text: &str, begin: &str) -> BTreeSet<String> {
    let ends = |letter: char| !letter.is_ascii_alphanumeric() && letter != '_';
    let found = text.match_indices(begin).filter_map(|(at, _)| text.get(at..));
    found.map(|rest| rest.split(ends).next().unwrap().to_owned()).collect()
}

/// Every flag and variable that the examples name must be one that `serve` has.
fn are_known(script: &str, what: &str) {
    let help = Home::new().says(&["serve", "--help"]).out;
    for flag in script.split_whitespace().filter(|word| word.starts_with("--")) {
        assert!(help.contains(flag), "{what}: `serve` has no {flag}");
    }
    for variable in names(script, "PORTCULLIS_") {
        let is_logging = variable.starts_with("PORTCULLIS_LOG");
        assert!(is_logging || help.contains(&variable), "{what}: `serve` has no {variable}");
    }
}

#[test]
fn the_compose_example_serves_two_nodes() {
    let compose = &documents("compose/compose.yaml")[0];
    let services = &compose["services"];
    let node = &services["node-1"];
    let dockerfile = node["build"]["dockerfile"].as_str().unwrap();
    let context = packaging("compose").join(node["build"]["context"].as_str().unwrap());
    assert!(context.join(dockerfile).exists(), "{dockerfile}");
    for service in ["node-1", "balancer"] {
        for volume in texts(&services[service]["volumes"]) {
            let file = volume.split(':').next().unwrap();
            assert!(packaging("compose").join(file).exists(), "{service}: {volume}");
        }
    }
    let secrets = compose["secrets"].as_hash().unwrap();
    for secret in texts(&node["secrets"]) {
        assert!(secrets.contains_key(&Yaml::String(secret.clone())), "{secret}");
    }
    let balancer = fs::read_to_string(packaging("compose/nginx.conf")).unwrap();
    for (name, _) in services.as_hash().unwrap().iter().filter(|(_, service)| service == &node) {
        let server = format!("server {}:4283 ", name.as_str().unwrap());
        assert!(balancer.contains(&server), "{server}");
    }
    let script = texts(&node["command"]).remove(0).replace("$$", "$");
    are_known(&script, "compose");

    let database = Database::start(&["fsync=off"]).unwrap();
    let shared = Home::new();
    let (secret, key) = (shared.0.join("password"), shared.0.join("signing_key"));
    let address = database.address();
    let (before, place) = address.rsplit_once('@').unwrap();
    fs::write(&secret, before.rsplit_once(':').unwrap().1).unwrap();
    fs::write(&key, [5; 32]).unwrap();
    let script = script
        .replace("/run/secrets/password", secret.to_str().unwrap())
        .replace("/run/secrets/signing_key", key.to_str().unwrap())
        .replace("@database/portcullis", &format!("@{place}"))
        .replace("0.0.0.0:4283", "127.0.0.1:0")
        .replace("/etc/portcullis/config.toml", packaging("compose/config.toml").to_str().unwrap())
        .replace("exec portcullis", &format!("exec {}", env!("CARGO_BIN_EXE_portcullis")));
    let nodes = [(); 2].map(|()| {
        let home = Home::new();
        let mut command = home.command("/bin/sh", &["-c", &script]);
        command.env("PORTCULLIS_DATA_DIR", home.0.join("data"));
        home.serve_by(command)
    });
    for node in &nodes {
        for path in ["/healthz", "/readyz"] {
            // The balancer passes on what the browser named.
            assert_eq!(get(node, "localhost:8080", path, None).0, 200, "{path}");
        }
        assert_ne!(get(node, "elsewhere.example", "/readyz", None).0, 200);
    }
    let others = Home::new();
    let mut stranger = others.command("/bin/sh", &["-c", &script.replace("signing.key", "x")]);
    stranger.env("PORTCULLIS_DATA_DIR", others.0.join("data"));
    let refused = crate::house::said(&mut stranger);
    assert_eq!(refused.code, 2, "{}", refused.error);
    assert!(refused.error.contains("copy `signing.key`"), "{}", refused.error);
}

#[test]
fn the_kubernetes_example_serves_with_a_read_only_root() {
    let all = documents("kubernetes/portcullis.yaml");
    let of_kind = |kind: &str| all.iter().find(|one| one["kind"].as_str() == Some(kind)).unwrap();
    let files = &of_kind("ConfigMap")["data"];
    let pod = &of_kind("Deployment")["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    assert_eq!(container["securityContext"]["readOnlyRootFilesystem"].as_bool(), Some(true));
    let volumes: BTreeSet<&str> =
        pod["volumes"].as_vec().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    for container in [container, &pod["initContainers"][0]] {
        for mount in container["volumeMounts"].as_vec().unwrap() {
            assert!(volumes.contains(mount["name"].as_str().unwrap()), "{mount:?}");
        }
    }
    let port = container["ports"][0]["containerPort"].as_i64();
    assert_eq!(of_kind("Service")["spec"]["ports"][0]["targetPort"].as_i64(), port);
    let arguments = texts(&container["args"]);
    are_known(&arguments.join(" "), "kubernetes");

    let database = Database::start(&["fsync=off"]).unwrap();
    let home = Home::new();
    for (place, text) in [("config", "config.toml"), ("config", "policy.toml")] {
        fs::create_dir_all(home.0.join(place)).unwrap();
        fs::write(home.0.join(place).join(text), files[text].as_str().unwrap()).unwrap();
    }
    for place in ["data", "secret"] {
        fs::create_dir_all(home.0.join(place)).unwrap();
    }
    fs::write(home.0.join("secret/signing.key"), [5; 32]).unwrap();
    let here = |text: &str| {
        text.replace("/data", home.0.join("data").to_str().unwrap())
            .replace("/secret/", &format!("{}/", home.0.join("secret").display()))
            .replace("/etc/portcullis", home.0.join("config").to_str().unwrap())
    };
    let init = texts(&pod["initContainers"][0]["command"]);
    let made = crate::house::said(&mut home.command("/bin/sh", &["-c", &here(&init[2])]));
    assert_eq!(made.code, 0, "{}", made.error);
    let mut words: Vec<String> = vec!["serve".to_owned()];
    words.extend(arguments.iter().map(|word| here(word)));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut command = home.portcullis(&words);
    // What is not said to lie in a volume cannot be written.
    command.env("HOME", "/proc/nobody");
    for variable in container["env"].as_vec().unwrap() {
        let name = variable["name"].as_str().unwrap();
        if name.starts_with("PORTCULLIS_") {
            are_known(name, "kubernetes");
        }
        if let Some(value) = variable["value"].as_str() {
            let value = value.replace("$(POD_IP):4283", "127.0.0.1:0");
            command.env(name, here(&value));
        }
    }
    command.env("PORTCULLIS_STORE", database.address());
    let daemon = home.serve_by(command);
    let own = daemon.url.strip_prefix("http://").unwrap().to_owned();
    for probe in ["livenessProbe", "readinessProbe"] {
        let path = container[probe]["httpGet"]["path"].as_str().unwrap();
        assert_eq!(container[probe]["httpGet"]["port"].as_i64(), port);
        assert_eq!(get(&daemon, &own, path, None).0, 200, "{path}");
    }
    let host = of_kind("Ingress")["spec"]["rules"][0]["host"].as_str().unwrap();
    assert_eq!(get(&daemon, host, "/readyz", None).0, 200, "{host}");

    // What the dashboard draws and the runbook speaks of is there.
    let key = fs::read_to_string(daemon.home.0.join("data/own/cli.key")).unwrap();
    let (status, told) = get(&daemon, &own, "/metrics", Some(key.trim()));
    assert_eq!(status, 200, "{told}");
    let known = names(&told, "portcullis_");
    let drawn = fs::read_to_string(packaging("grafana/portcullis.json")).unwrap();
    serde_json::from_str::<serde_json::Value>(&drawn).unwrap();
    let runbook = fs::read_to_string(packaging("../docs/runbook.md")).unwrap();
    let (drawn, spoken) = (names(&drawn, "portcullis_"), names(&runbook, "portcullis_"));
    assert!(!drawn.is_empty() && !spoken.is_empty());
    for name in drawn.iter().chain(&spoken) {
        assert!(known.contains(name), "no metric is called {name}: {known:?}");
    }
}
