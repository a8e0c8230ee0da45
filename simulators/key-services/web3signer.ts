import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { ecdsaSign, publicKeyCreate } from 'secp256k1'
import { bytesToHex, hexToBytes, keccak256 } from 'viem'

/** A server with the two operations of Web3Signer's OpenAPI document (eth1) that the service uses. */
export interface Web3Signer {
  readonly url: string
  /** Loads other keys, as `POST /reload` does. */
  reload(secrets: readonly string[]): void
  stop(): Promise<void>
}

interface Web3SignerOptions {
  /** 64 hex digits each. */
  readonly secrets: readonly string[]
  /** The certificates in PEM of a server that wants one of its clients. */
  readonly tls?: { readonly ca: string; readonly cert: string; readonly key: string }
}

type Answer = readonly [status: number, type: string, body: string]

const BAD: Answer = [400, 'text/plain', 'Bad Request']
const ABSENT: Answer = [404, 'text/plain', 'Not Found']

/** The public key as Web3Signer writes it: the point without its prefix. */
export function web3SignerKey(secret: string): string {
  return bytesToHex(publicKeyCreate(Buffer.from(secret, 'hex'), false).subarray(1))
}

/** Starts it. It checks method, path, type and the fields of each body. */
export async function startWeb3Signer({ secrets, tls }: Web3SignerOptions): Promise<Web3Signer> {
  let keys = keysOf(secrets)

  function sign(identifier: string, request: IncomingMessage, text: string): Answer {
    if (request.headers['content-type'] !== 'application/json') return BAD
    const { data, ...others } = JSON.parse(text) as { data?: unknown }
    if (typeof data !== 'string' || !/^0x([0-9a-f]{2})*$/i.test(data) || Object.keys(others).length > 0)
      return BAD
    const secret = keys.get(identifier)
    if (secret === undefined) return ABSENT
    const hash = keccak256(hexToBytes(data as `0x${string}`), 'bytes')
    const { signature, recid } = ecdsaSign(hash, Buffer.from(secret, 'hex'))
    return [200, 'text/plain; charset=utf-8', `${bytesToHex(signature)}${(27 + recid).toString(16)}`]
  }

  function route(request: IncomingMessage, text: string): Answer {
    const { method, url = '' } = request
    if (method === 'GET' && url === '/api/v1/eth1/publicKeys')
      return [200, 'application/json', JSON.stringify([...keys.keys()])]
    const identifier = /^\/api\/v1\/eth1\/sign\/([^/]+)$/.exec(url)?.[1]
    return method === 'POST' && identifier !== undefined ? sign(identifier, request, text) : ABSENT
  }

  const listener: RequestListener = async (request, response) => {
    const [status, type, body] = route(request, (await request.toArray()).join(''))
    response.writeHead(status, { 'content-type': type }).end(body)
  }
  const server = tls
    ? createTlsServer({ ...tls, requestCert: true, rejectUnauthorized: true }, listener)
    : createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    reload: (others) => {
      keys = keysOf(others)
    },
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const keysOf = (secrets: readonly string[]) =>
  new Map(secrets.map((secret) => [web3SignerKey(secret), secret]))
