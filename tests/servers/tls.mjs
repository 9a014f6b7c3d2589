// TLS servers on loopback for tests: one port for each kind of certificate,
// HTTP/2 and HTTP/1.1, and an echo. Ends with its standard input.
//
//	node tls.mjs FOLDER
//
// makes authorities and certificates in FOLDER (openssl), among them ca.pem,
// and prints one line "NAME=PORT ..." when all listen.
import {execFileSync} from 'node:child_process';
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {createSecureServer} from 'node:http2';
import {createServer} from 'node:https';
import {join} from 'node:path';
import {createServer as createTls} from 'node:tls';

const folder = process.argv[2];
const at = (name) => join(folder, name);
const openssl = (...args) =>
	execFileSync('openssl', args, {stdio: ['ignore', 'ignore', 'pipe']});

function key(name) {
	openssl('genpkey', '-algorithm', 'EC', '-pkeyopt',
		'ec_paramgen_curve:P-256', '-out', at(`${name}.key`));
}

function authority(name) {
	key(name);
	openssl('req', '-x509', '-new', '-key', at(`${name}.key`), '-subj',
		`/CN=test authority ${name}`, '-days', '30', '-out',
		at(`${name}.pem`));
}

// A certificate for `hosts`; from and to are times of `openssl ca`.
function certificate(name, ca, hosts, from, to) {
	mkdirSync(at(`${name}.d`));
	writeFileSync(at(`${name}.d/index`), '');
	writeFileSync(at(`${name}.cnf`), `
[ca]
default_ca = d
[d]
dir = ${at(`${name}.d`)}
database = $dir/index
new_certs_dir = $dir
rand_serial = yes
default_md = sha256
policy = p
x509_extensions = x
[p]
commonName = supplied
[x]
subjectAltName = ${hosts}
`);
	key(name);
	openssl('req', '-new', '-key', at(`${name}.key`), '-subj',
		`/CN=${name}`, '-out', at(`${name}.csr`));
	openssl('ca', '-batch', '-notext', '-config', at(`${name}.cnf`),
		'-cert', at(`${ca}.pem`), '-keyfile', at(`${ca}.key`),
		'-startdate', from, '-enddate', to,
		'-in', at(`${name}.csr`), '-out', at(`${name}.pem`));
}

const files = (name) => ({
	key: readFileSync(at(`${name}.key`)),
	cert: readFileSync(at(`${name}.pem`)),
});

let sessions = 0;
const numbers = new WeakMap();

// Which connection a request came on, counted from 1.
function numberOf(request) {
	const key = request.httpVersion === '2.0' ?
		request.stream.session : request.socket;
	if (!numbers.has(key))
		numbers.set(key, ++sessions);
	return String(numbers.get(key));
}

function answer(request, response) {
	response.setHeader('x-connection', numberOf(request));
	response.setHeader('content-type', 'text/plain');
	if (request.url === '/stream') {
		response.write('data: x\n\n');
		return;
	}
	const body = [];
	request.on('data', (bytes) => body.push(bytes));
	request.on('end', () => response.end(
		`${request.method} ${Buffer.concat(body)}`));
}

authority('ca');
authority('other');
const now = '20200101000000Z', far = '20490101000000Z';
certificate('good', 'ca', 'DNS:localhost,IP:127.0.0.1', now, far);
certificate('expired', 'ca', 'DNS:localhost,IP:127.0.0.1', now,
	'20210101000000Z');
certificate('wrong', 'ca', 'DNS:elsewhere.example', now, far);
certificate('unknown', 'other', 'DNS:localhost,IP:127.0.0.1', now, far);

const servers = {};
for (const name of ['good', 'expired', 'wrong', 'unknown'])
	servers[name] = createSecureServer(
		{...files(name), allowHTTP1: true}, answer);
servers.old = createSecureServer({...files('good'), allowHTTP1: true,
	maxVersion: 'TLSv1.1', minVersion: 'TLSv1',
	ciphers: 'DEFAULT@SECLEVEL=0'}, answer);
servers.one = createServer(files('good'), answer);
servers.echo = createTls(files('good'), (s) => {
	s.on('error', () => {});
	s.pipe(s);
});

const ports = await Promise.all(Object.entries(servers).map(([name, server]) =>
	new Promise((done) => server.listen(0, '127.0.0.1', () =>
		done(`${name}=${server.address().port}`)))));
console.log(ports.join(' '));
process.stdin.on('end', () => process.exit(0)).resume();
