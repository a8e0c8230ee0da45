import type { HttpClient, PostAnswer } from '../../lib/http/http-client.ts'
import { answered } from '../remote/answered.ts'
import { type PublicKeys, RemoteFault, type RemoteKey } from '../remote/remote-key.ts'

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

/** Connects to a key of Web3Signer, which hashes messages with keccak-256 and signs the hash (`/api/v1/eth1`). */
export function connectWeb3Signer({ url, publicKey, http, timeoutMs }: Web3SignerOptions): RemoteKey {
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
      if (digits === undefined) throw new RemoteFault('unavailable', 'gave a signature that cannot be read')
      return new Uint8Array(Buffer.from(digits, 'hex'))
    },
  }
}

/** @throws RemoteFault `refused` when the list lacks the key */
function readList(text: string, publicKey: string): PublicKeys {
  const listed = parse(text)
  if (!Array.isArray(listed)) throw new RemoteFault('unavailable', 'gave a list of keys that cannot be read')
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
    return new RemoteFault('refused', `is denied: look at the client certificate (status ${status})`)
  if (status === 400) return new RemoteFault('refused', 'cannot sign in this way (status 400)')
  return new RemoteFault('unavailable', `cannot be asked: the server answered with status ${status}`)
}
