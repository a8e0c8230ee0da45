import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { type FieldType, httpUrl } from '../../lib/fields.ts'
import { createHttpClient, type HttpClient, type PostAnswer } from '../../lib/http/http-client.ts'
import type { RemoteProvider, SignerFields } from '../providers/provider.ts'
import { answered } from '../remote/answers.ts'
import { type PublicKeys, RemoteFault, type RemoteKey } from '../remote/remote-key.ts'

interface Web3SignerConfig {
  /** The url of the server, e.g. `https://signer.example.com:9000`. */
  readonly url: string
  /** 128 hex digits. */
  readonly publicKey: string
  /** Only in the configuration file. */
  readonly tls?: TlsPaths
}

const publicKey: FieldType<string> = {
  expected: 'a public key as Web3Signer lists it: 128 hex digits, with or without 0x',
  read: (value) =>
    typeof value === 'string' ? /^(?:0x)?([0-9a-fA-F]{128})$/.exec(value)?.[1]?.toLowerCase() : undefined,
  blank: '',
}

/** A key of secp256k1 behind Web3Signer's API for execution keys (eth1). */
export const web3signer: RemoteProvider<Web3SignerConfig> = {
  kind: 'remote',
  curves: ['secp256k1'],
  read: (fields) => {
    const tls = fields.findObject('tls', readTls)
    return {
      url: fields.get('url', httpUrl),
      publicKey: fields.get('public_key', publicKey),
      ...(tls && { tls }),
    }
  },
  // The URL shows only its origin, because paths and users can be secret.
  show: (config) => ({ url: new URL(config.url).origin, public_key: `0x${config.publicKey}` }),
  connect: async ({ url, publicKey: key, tls }, { http, timeoutMs }) =>
    connectWeb3Signer({ url, publicKey: key, timeoutMs, http: tls ? createTlsClient(tls) : http }),
}

function readTls(fields: SignerFields): TlsPaths {
  const caPath = fields.findPath('ca_path')
  const pair = { certPath: fields.path('cert_path'), keyPath: fields.path('key_path') }
  return caPath === undefined ? pair : { ...pair, caPath }
}

interface Web3SignerOptions {
  readonly url: string
  /** 128 hex digits: the point without its prefix. */
  readonly publicKey: string
  readonly http: Pick<HttpClient, 'post'>
  /** The limit of one request, in ms. */
  readonly timeoutMs: number
}

/** The answer to a signature: r, s and v in hex digits. Some proxies put it into quotes. */
const SIGNATURE = /^\s*"?0x([0-9a-fA-F]{128})[0-9a-fA-F]{2}"?\s*$/

/** The prefix of an uncompressed point. */
const UNCOMPRESSED = '04'

/**
 * Connects to a key of Web3Signer, which hashes messages with keccak-256 and signs the hash (`/api/v1/eth1`).
 */
function connectWeb3Signer({ url, publicKey, http, timeoutMs }: Web3SignerOptions): RemoteKey {
  const base = url.replace(/\/+$/, '')
  const identifier = `0x${publicKey}`

  async function ask(path: string, body?: object): Promise<string> {
    const answer = await answered(
      http.post({
        url: `${base}/api/v1/eth1/${path}`,
        method: body ? 'POST' : 'GET',
        headers: body ? { 'content-type': 'application/json' } : {},
        body: body ? JSON.stringify(body) : '',
        timeoutMs,
      }),
    )
    if (answer.status === 200) return answer.body
    throw failureOf(answer)
  }

  return {
    name: `Web3Signer key ${identifier.slice(0, 12)}… at ${new URL(url).host}`,
    hashesMessages: true,
    publicKeys: async () => readList(await ask('publicKeys'), publicKey),
    sign: async ({ payload }) => {
      const text = await ask(`sign/${identifier}`, { data: `0x${Buffer.from(payload).toString('hex')}` })
      const digits = SIGNATURE.exec(text)?.[1]
      if (digits === undefined) throw new RemoteFault('unavailable', 'returned an unreadable signature')
      return new Uint8Array(Buffer.from(digits, 'hex'))
    },
  }
}

/** @throws RemoteFault `refused` if the list does not have the key */
function readList(text: string, publicKey: string): PublicKeys {
  const listed = parse(text)
  if (!Array.isArray(listed)) throw new RemoteFault('unavailable', 'returned an unreadable list of keys')
  const wanted = [publicKey, `${UNCOMPRESSED}${publicKey}`]
  const isListed = listed.some((one) => wanted.includes(String(one).toLowerCase().replace(/^0x/, '')))
  if (!isListed) throw new RemoteFault('refused', 'is not among the keys that this server has loaded')
  return { secp256k1: new Uint8Array(Buffer.from(`${UNCOMPRESSED}${publicKey}`, 'hex')) }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function failureOf({ status }: PostAnswer): RemoteFault {
  if (status === 429) return new RemoteFault('throttled', 'gets too many requests (status 429)')
  if (status === 404) return new RemoteFault('refused', 'does not exist on this server (status 404)')
  if (status === 401 || status === 403)
    return new RemoteFault('refused', `is denied: check the client certificate (status ${status})`)
  if (status === 400) return new RemoteFault('refused', 'cannot sign in this way (status 400)')
  return new RemoteFault('unavailable', `cannot be used: the server answered with status ${status}`)
}

/** The files of a client certificate, in PEM. */
interface TlsPaths {
  /** The authorities that the server's certificate must come from. Default: those of Node.js. */
  readonly caPath?: string
  readonly certPath: string
  readonly keyPath: string
}

/** The longest answer, in bytes: a list of a thousand public keys and more. */
const MAX_ANSWER_BYTES = 256 * 1024

/**
 * Creates a client that shows a certificate. It reads the files on the first request, and again while one of
 * them cannot be read.
 */
function createTlsClient(paths: TlsPaths): Pick<HttpClient, 'post'> {
  let opened: Promise<HttpClient> | undefined

  function present(): Promise<HttpClient> {
    if (opened !== undefined) return opened
    const made = open(paths)
    opened = made
    made.catch(() => {
      opened = undefined
    })
    return made
  }

  return { post: async (request) => (await present()).post(request) }
}

async function open({ caPath, certPath, keyPath }: TlsPaths): Promise<HttpClient> {
  const [cert, key, ca] = await Promise.all([read(certPath), read(keyPath), caPath && read(caPath)])
  const tls = { cert, key, ...(ca && { ca }) }
  try {
    // Connections would find the fault one by one, each with a different message.
    createSecureContext(tls)
  } catch (cause) {
    throw new RemoteFault('refused', `cannot be used: ${certPath} and ${keyPath} are not a PEM pair`, {
      cause,
    })
  }
  return createHttpClient({ tls, wholeBodyBytes: MAX_ANSWER_BYTES })
}

async function read(path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (cause) {
    const { code = 'unknown error' } = cause as NodeJS.ErrnoException
    throw new RemoteFault('refused', `cannot be used: the file ${path} cannot be read (${code})`, { cause })
  }
}
