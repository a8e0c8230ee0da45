import { isCloseCode } from '../messages.ts'
import { send } from './channel.ts'

/** Characters of a message that a plugin sends. */
const MAX_SENT_CHARACTERS = 1024 * 1024

/** A WebSocket of a caller. It is the same object in every call about it. */
class PluginSocket {
  readonly #number: number
  #isOpen = true

  constructor(number: number) {
    this.#number = number
  }

  /** Unique within the process. */
  get id(): string {
    return String(this.#number)
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Sends a text. A closed socket ignores it. */
  send(text: unknown): void {
    if (typeof text !== 'string') throw new TypeError('socket.send: expected a string')
    if (text.length > MAX_SENT_CHARACTERS)
      throw new RangeError(`socket.send: a message has at most ${MAX_SENT_CHARACTERS} characters`)
    if (this.#isOpen) send({ type: 'send', run: this.#number, data: text })
  }

  close(code: unknown = 1_000, reason: unknown = ''): void {
    if (!isCloseCode(code)) throw new RangeError('socket.close: expected the code 1000, or 3000 to 4999')
    if (this.#isOpen) send({ type: 'close', run: this.#number, code, reason: String(reason) })
    this.#isOpen = false
  }

  static end(socket: PluginSocket): void {
    socket.#isOpen = false
  }
}

const sockets = new Map<number, PluginSocket>()

/** Returns the socket with this number. */
export function socketOf(number: number): PluginSocket {
  const socket = sockets.get(number) ?? new PluginSocket(number)
  sockets.set(number, socket)
  return socket
}

/** Forgets a socket that is closed. */
export function forgetSocket(number: number): void {
  const socket = sockets.get(number)
  if (socket !== undefined) PluginSocket.end(socket)
  sockets.delete(number)
}
