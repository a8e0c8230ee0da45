import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import type {
  SocketEndpoint,
  SocketPeer,
  SocketRequest,
} from '../../src/http/connections/sockets/endpoint.ts'
import type { Mount } from '../../src/http/server-options.ts'
import { mustOpen } from '../support/web-socket.ts'
import { startStub } from './stub-server.ts'

type Settings = Partial<Pick<SocketEndpoint, 'keyParameter' | 'most'>> &
  Partial<Pick<Mount, 'isOpen' | 'corsOrigins'>> & {
    readonly onMessage?: (text: string, peer: SocketPeer) => void | Promise<void>
  } & Omit<NonNullable<Parameters<typeof startStub>[0]>, 'mounts'>

/** Starts a server whose mount `/front` has WebSockets at `/front/ws`, and records what their sessions are told. */
export async function startSockets({
  keyParameter,
  most = { all: 1_000, perCaller: 1_000 },
  isOpen = true,
  corsOrigins = [],
  onMessage = (text, peer) => peer.send(text),
  ...options
}: Settings = {}) {
  const requests: SocketRequest[] = []
  const peers: SocketPeer[] = []
  const told: (string | { readonly code: number; readonly reason: string })[] = []
  const sockets: SocketEndpoint = {
    path: 'ws',
    keyParameter,
    scope: 'plugins:call',
    most,
    prepare: async (request) => {
      requests.push(request)
      let peer: SocketPeer
      return {
        opened: async (opened) => {
          peer = opened
          peers.push(opened)
        },
        message: async (text) => {
          told.push(text)
          await onMessage(text, peer)
        },
        closed: async (code, reason) => void told.push({ code, reason }),
      }
    },
  }
  const mounts = new Map([['front', { prefix: '/api/v1/plugins/front/call/', isOpen, corsOrigins, sockets }]])
  const stub = await startStub({ ...options, mounts })
  const url = `${stub.url}/front/ws`
  return { ...stub, url, requests, peers, told, open: () => mustOpen(url) }
}

/** Tells an end from a message. */
export const isEnd = (told: unknown): told is { readonly code: number; readonly reason: string } =>
  typeof told === 'object'

/** A frame of a client, with its parts as RFC 6455 has them. */
export function frame(
  opcode: number,
  payload: Buffer,
  { isLast = true, length = payload.length } = {},
): Buffer {
  const mask = randomBytes(4)
  const masked = Buffer.from(payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0)))
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10)
  head[0] = (isLast ? 0x80 : 0) | opcode
  head[1] = 0x80 | (length < 126 ? length : length < 65_536 ? 126 : 127)
  if (head.length === 4) head.writeUInt16BE(length, 2)
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2)
  return Buffer.concat([head, mask, masked])
}

/** Makes the handshake by hand, and returns the connection and what arrives on it as bytes. */
export async function handshake(port: number, path = '/front/ws') {
  const socket = connect(port, '127.0.0.1')
  const pieces: Buffer[] = []
  socket.on('error', () => undefined)
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  const switched = new Promise<void>((resolve) =>
    socket.on('data', (piece: Buffer) => {
      pieces.push(piece)
      if (String(piece).includes('101')) resolve()
    }),
  )
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`,
  )
  await switched
  return { socket, closed, bytes: () => Buffer.concat(pieces) }
}
