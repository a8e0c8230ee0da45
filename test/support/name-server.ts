import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import { isIPv4 } from 'node:net'

/** A question as the name server got it. */
export interface NameQuestion {
  readonly name: string
  readonly type: 'A' | 'AAAA' | 'other'
}

/** The answer to a question: addresses of either family, `none` (NXDOMAIN), `failure` (SERVFAIL), or `silent`. */
export type NameReply = readonly string[] | 'none' | 'failure' | 'silent'

/** A real name server on UDP (RFC 1035). */
export interface NameServer {
  /** `address:port`. */
  readonly address: string
  readonly questions: readonly NameQuestion[]
  stop(): Promise<void>
}

/** The time to live of every record, in seconds. */
const TTL_SECONDS = 30

/** Starts one on a free port of this machine. */
export async function startNameServer(answer: (question: NameQuestion) => NameReply): Promise<NameServer> {
  const questions: NameQuestion[] = []
  const socket = createSocket('udp4')
  socket.on('message', (message, { address, port }: RemoteInfo) => {
    const question = readQuestion(message)
    questions.push(question)
    const reply = answer(question)
    if (reply !== 'silent') socket.send(writeReply(message, question, reply), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    stop: () => new Promise((resolve) => socket.close(resolve)),
  }
}

const HEADER_BYTES = 12
const TYPES: Readonly<Record<number, NameQuestion['type']>> = { 1: 'A', 28: 'AAAA' }

function readQuestion(message: Buffer): NameQuestion {
  const labels: string[] = []
  let at = HEADER_BYTES
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: TYPES[message.readUInt16BE(at + 1)] ?? 'other' }
}

function writeReply(
  message: Buffer,
  { name, type }: NameQuestion,
  reply: Exclude<NameReply, 'silent'>,
): Buffer {
  const code = reply === 'none' ? 3 : reply === 'failure' ? 2 : 0
  const all = typeof reply === 'string' ? [] : reply
  const records = all.filter((address) => (isIPv4(address) ? 'A' : 'AAAA') === type).map(writeRecord)
  const questionBytes = name.length + 2 + 4
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt16BE(message.readUInt16BE(0), 0)
  header.writeUInt16BE(0x8180 | code, 2) // an answer; recursion was wanted and is available
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(records.length, 6)
  return Buffer.concat([header, message.subarray(HEADER_BYTES, HEADER_BYTES + questionBytes), ...records])
}

function writeRecord(address: string): Buffer {
  const bytes = isIPv4(address) ? Buffer.from(address.split('.').map(Number)) : ipv6Bytes(address)
  const head = Buffer.alloc(12)
  head.writeUInt16BE(0xc000 | HEADER_BYTES, 0) // the name is that of the question
  head.writeUInt16BE(isIPv4(address) ? 1 : 28, 2)
  head.writeUInt16BE(1, 4) // class IN
  head.writeUInt32BE(TTL_SECONDS, 6)
  head.writeUInt16BE(bytes.length, 10)
  return Buffer.concat([head, bytes])
}

/** Understands addresses with one `::`. */
function ipv6Bytes(address: string): Buffer {
  const [head = '', tail = ''] = address.split('::')
  const groups = (text: string) =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
  const [first, last] = [groups(head), groups(tail)]
  const all = [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last]
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]))
}
