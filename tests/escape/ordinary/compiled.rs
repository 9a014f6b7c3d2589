// An ordinary static Rust program: threads, TCP on its own loopback, files, a
// child process.
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::mpsc;
use std::{env, fs, thread};

fn threads() {
    let (tx, rx) = mpsc::channel();
    let all: Vec<_> = (0..32u64)
        .map(|n| {
            let tx = tx.clone();
            thread::spawn(move || tx.send(n * n).unwrap())
        })
        .collect();
    for t in all {
        t.join().unwrap();
    }
    drop(tx);
    println!("{}", rx.iter().sum::<u64>());
}

fn tcp() {
    let l = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = l.local_addr().unwrap();
    let t = thread::spawn(move || {
        let mut text = String::new();
        TcpStream::connect(at).unwrap().read_to_string(&mut text).unwrap();
        text
    });
    l.accept().unwrap().0.write_all(b"served").unwrap();
    println!("{}", t.join().unwrap());
}

fn files(dir: &str) {
    fs::create_dir_all(format!("{dir}/a/b")).unwrap();
    fs::write(format!("{dir}/a/b/c"), "text").unwrap();
    fs::rename(format!("{dir}/a/b/c"), format!("{dir}/d")).unwrap();
    fs::copy(format!("{dir}/d"), format!("{dir}/e")).unwrap();
    fs::remove_dir_all(format!("{dir}/a")).unwrap();
    println!("{}", fs::read_to_string(format!("{dir}/e")).unwrap());
}

fn process() {
    let out = Command::new("cat").arg("/dev/null").output().unwrap();
    println!("process {}", out.status.success());
}

fn main() {
    let args: Vec<String> = env::args().collect();
    match args[1].as_str() {
        "threads" => threads(),
        "tcp" => tcp(),
        "files" => files(&args[2]),
        "process" => process(),
        _ => {}
    }
}
