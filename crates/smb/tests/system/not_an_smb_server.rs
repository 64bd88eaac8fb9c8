//! Servers that are none: whatever listens on the port, there is an error, soon, and no panic.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use smb::{Error, Login, Mechanism, Policy, Server, Session};

/// Longest time an answer may take where the policy allows a quarter of a second.
const SOON: Duration = Duration::from_secs(5);

fn login() -> Login {
    Login::User {
        user: "user".to_owned(),
        domain: String::new(),
        password: String::from("secret").into(),
        mechanism: Mechanism::Automatic,
    }
}

fn impatient() -> Policy {
    Policy {
        login_timeout: Duration::from_millis(250),
        request_timeout: Duration::from_millis(250),
        ..Policy::default()
    }
}

/// Connects to a listener that treats its first visitor so.
fn connect_to(behaviour: impl FnOnce(TcpStream) + Send + 'static) -> Error {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    let impostor = thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a visitor");
        behaviour(stream);
    });
    let server = Server {
        name: "127.0.0.1".to_owned(),
        port,
    };
    let begun = Instant::now();
    let outcome = Session::connect(&server, None, &login(), &impatient());
    assert!(begun.elapsed() < SOON, "it took {:?}", begun.elapsed());
    impostor
        .join()
        .expect("the impostor has no reason to panic");
    outcome.expect_err("nobody can log in there")
}

/// Reads until the visitor gives up.
fn drain(mut stream: TcpStream) {
    let mut ignored = [0; 4096];
    while stream.read(&mut ignored).is_ok_and(|count| count > 0) {}
}

#[test]
fn one_that_hangs_up() {
    let error = connect_to(drop);
    assert!(matches!(error, Error::ConnectionLost { .. }), "{error:?}");
}

#[test]
fn one_that_says_nothing() {
    let error = connect_to(drain);
    assert!(matches!(error, Error::ConnectionLost { .. }), "{error:?}");
}

#[test]
fn one_that_speaks_something_else() {
    let error = connect_to(|mut stream| {
        let page = b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/html\r\n\r\n<html>What?</html>";
        stream.write_all(page).expect("it still listens");
        drain(stream);
    });
    assert!(matches!(error, Error::Protocol { .. }), "{error:?}");
}

#[test]
fn one_that_promises_more_than_it_sends() {
    let error = connect_to(|mut stream| {
        stream.write_all(&[0, 0, 0, 200]).expect("it still listens");
        stream
            .write_all(b"\xFESMB\x40\0")
            .expect("it still listens");
        drain(stream);
    });
    assert!(matches!(error, Error::ConnectionLost { .. }), "{error:?}");
}

#[test]
fn one_that_sends_our_own_bytes_back() {
    let error = connect_to(|mut stream| {
        let mut bytes = [0; 4096];
        let count = stream.read(&mut bytes).expect("a NEGOTIATE");
        stream.write_all(&bytes[..count]).expect("it still listens");
        drain(stream);
    });
    assert!(matches!(error, Error::Protocol { .. }), "{error:?}");
}

#[test]
fn nobody_listens() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    drop(listener);
    let server = Server {
        name: "127.0.0.1".to_owned(),
        port,
    };
    let error = Session::connect(&server, None, &login(), &impatient()).err();
    assert!(matches!(error, Some(Error::PortClosed { .. })), "{error:?}");
}

#[test]
fn a_name_that_cannot_be() {
    let server = Server {
        name: "no such host".to_owned(),
        port: 445,
    };
    let error = Session::connect(&server, None, &login(), &impatient()).err();
    assert!(
        matches!(error, Some(Error::UnknownHost { .. })),
        "{error:?}"
    );
}
