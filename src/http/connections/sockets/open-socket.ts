import { type RawData, WebSocket } from 'ws'
import { CLOSE, type SocketPeer, type SocketSession } from './endpoint.ts'

/** Bytes of a message of a caller, and characters of one to it. */
export const MAX_RECEIVED_BYTES = 64 * 1024
const MAX_SENT_CHARACTERS = 1024 * 1024

/**
 * Messages of one socket that wait for the one before them. The connection is not read meanwhile; these are
 * what had arrived already.
 */
const MAX_WAITING = 256

/** Bytes that one caller may leave unread, besides a single message, and all of them together. */
const MAX_UNREAD_BYTES = 1024 * 1024
const MAX_UNREAD_BYTES_OF_ALL = 64 * 1024 * 1024

/** Bytes of the reason in a closing frame, a rule of RFC 6455. */
const MAX_REASON_BYTES = 123

/** The bytes that all sockets have not read, and what ends the one with the most of them. */
export interface Unread {
  bytes: number
  endSlowest(): void
}

interface SocketDeps {
  readonly ws: WebSocket
  readonly session: SocketSession
  /** Counts a message, and returns the seconds until the next one is allowed; 0 allows this one. */
  readonly countMessage: () => number
  readonly unread: Unread
  /** Called when the session has been told of the end. */
  readonly released: () => void
}

/**
 * One open socket. It hands the messages of the caller to its session, one after another, and stops reading
 * while one of them is served, so that no caller fills the memory.
 */
export class OpenSocket implements SocketPeer {
  readonly #deps: SocketDeps
  readonly #waiting: string[] = []
  #unreadBytes = 0
  #isAlive = true
  #isBusy = false
  #work: Promise<void> = Promise.resolve()
  /** The reason of the service for the end. */
  #end: { readonly code: number; readonly reason: string } | undefined

  constructor(deps: SocketDeps) {
    this.#deps = deps
    const { ws, session } = deps
    ws.on('message', (data, isBinary) => this.#receive(data, isBinary))
    ws.on('ping', (data) => this.#answerPing(data))
    ws.on('pong', () => {
      this.#isAlive = true
    })
    // The library closes the socket by itself, with the code that fits: 1009 for a message that is too long.
    ws.on('error', () => undefined)
    ws.once('close', (code, reason) => void this.#closed(code, String(reason)))
    this.#work = this.#serve(() => session.opened(this))
  }

  get unreadBytes(): number {
    return this.#unreadBytes
  }

  send(text: string): void {
    const { ws, unread } = this.#deps
    if (ws.readyState !== WebSocket.OPEN) return
    if (text.length > MAX_SENT_CHARACTERS) {
      this.close(CLOSE.internalError, `a message has at most ${MAX_SENT_CHARACTERS} characters`)
      return
    }
    const bytes = Buffer.byteLength(text)
    if (this.#unreadBytes > 0 && this.#unreadBytes + bytes > MAX_UNREAD_BYTES) {
      this.endSlow()
      return
    }
    this.#unreadBytes += bytes
    unread.bytes += bytes
    ws.send(text, () => {
      this.#unreadBytes -= bytes
      unread.bytes -= bytes
    })
    if (unread.bytes > MAX_UNREAD_BYTES_OF_ALL) unread.endSlowest()
  }

  close(code: number, reason: string): void {
    const { ws } = this.#deps
    this.#end ??= { code, reason }
    this.#waiting.length = 0
    ws.close(code, cut(reason))
    ws.resume()
  }

  /** Ends a socket whose caller does not read: a closing frame would wait behind the rest. */
  endSlow(): void {
    this.terminate('reads too slowly')
  }

  /** Asks the caller for a sign of life, and ends the socket if it gave none since the last time. */
  look(): void {
    // Nothing is read while the session works, whose time is limited.
    if (this.#isBusy) return
    if (!this.#isAlive) this.terminate('does not answer pings')
    this.#isAlive = false
    if (this.#deps.ws.readyState === WebSocket.OPEN) this.#deps.ws.ping()
  }

  /** Ends the connection without a closing frame. */
  terminate(reason: string): void {
    this.#end ??= { code: CLOSE.abnormal, reason }
    this.#waiting.length = 0
    this.#deps.ws.terminate()
  }

  #receive(data: RawData, isBinary: boolean): void {
    this.#isAlive = true
    const { ws } = this.#deps
    if (ws.readyState !== WebSocket.OPEN || !this.#mayReceive()) return
    if (isBinary) {
      this.close(CLOSE.unsupportedData, 'messages are text')
      return
    }
    if (this.#waiting.length >= MAX_WAITING) {
      this.close(CLOSE.policyViolation, `at most ${MAX_WAITING} messages can wait`)
      return
    }
    this.#waiting.push(String(data))
    if (!this.#isBusy) this.#work = this.#serve()
  }

  #answerPing(data: Buffer): void {
    this.#isAlive = true
    const { ws } = this.#deps
    if (ws.readyState !== WebSocket.OPEN || !this.#mayReceive()) return
    if (ws.bufferedAmount > MAX_UNREAD_BYTES) this.endSlow()
    else ws.pong(data)
  }

  /** Messages and pings count as requests of their caller. */
  #mayReceive(): boolean {
    const seconds = this.#deps.countMessage()
    if (seconds > 0) this.close(CLOSE.policyViolation, `too many messages, try again in ${seconds} s`)
    return seconds === 0
  }

  async #serve(first?: () => Promise<void>): Promise<void> {
    const { ws, session } = this.#deps
    this.#isBusy = true
    ws.pause()
    await first?.()
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift())
      await session.message(next)
    this.#isBusy = false
    this.#isAlive = true
    ws.resume()
  }

  async #closed(code: number, reason: string): Promise<void> {
    const { session, released } = this.#deps
    this.#waiting.length = 0
    await this.#work
    const end = this.#end ?? { code, reason }
    await session.closed(end.code, end.reason)
    released()
  }
}

function cut(reason: string): string {
  return Buffer.from(reason).subarray(0, MAX_REASON_BYTES).toString().replaceAll('\ufffd', '')
}
