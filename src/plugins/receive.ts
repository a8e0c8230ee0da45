import { exceededLimit } from '../contract/exact-integers.ts'
import { MAX_LINE, type PluginListener, readMessage } from './messages.ts'

/**
 * The check of what the process of a plugin sends. Bytes, depth and number of values are bounded before
 * anything is parsed: three bytes make a list that takes fifty in memory. What is over a bound is answered
 * with an error; a process that goes on is ended.
 */

/** The most messages of a process within a second. More would keep the service from its other work. */
const MAX_MESSAGES_PER_SECOND = 20_000

/** Characters within a second after which the others wait in the pipe. */
const MAX_CHARACTERS_PER_SECOND = 32 * 1024 * 1024

/**
 * A message has few fields; parameters and results are texts in it. The names of exported functions are the
 * most values that it can have.
 */
const MESSAGE = { maxDepth: 3, maxValues: 300 }

/**
 * Characters of a message by its type; the others may have as many as a line. A value of the store can double
 * when it becomes a text.
 */
const MAX_CHARACTERS: Readonly<Record<string, number>> = {
  kv: 2 * 1024 * 1024,
  log: 2 * 1024 * 1024,
  fatal: 2 * 1024 * 1024,
  ready: 64 * 1024,
  close: 64 * 1024,
  pong: 1024,
}

/** A JSON text inside a message, which the service parses: a result, or the details of an error. */
const INNER = { maxDepth: 64, maxValues: 200_000 }
const MAX_DETAILS = 256 * 1024

/** Messages over a bound, or of a form that is not allowed, after which a process is ended. */
const MAX_REFUSED = 20

/** The first fields of a message, as the runtime writes them. */
const HEAD = /^\{"type":"(\w{1,10})"(?:,"(?:id|run)":(\d{1,15})[,}])?/

interface Ways {
  /** Ends the process. */
  readonly end: (reason: string) => void
  /** What the messages come from. */
  readonly source: { pause(): unknown; resume(): unknown }
}

/** Receives what a process sends. */
export interface Receiver {
  line(line: string): void
  /** A line with this beginning was too long to be kept. */
  tooLong(head: string): void
  /** Counts characters when they arrive, before their line is complete. */
  bytes(count: number): void
}

/** Creates the check of what a process sends. */
export function createReceiver(listener: PluginListener, { end, source }: Ways): Receiver {
  const messages = createSecond()
  const characters = createSecond()
  let refused = 0
  let isOver = false
  const stop = (reason: string) => {
    isOver = true
    end(reason)
  }

  /** Answers a message that is not read, if its beginning tells which one it is. */
  function refuse(line: string, problem: string): void {
    refused += 1
    const [, type, number] = HEAD.exec(line) ?? []
    const id = Number(number)
    if (refused > MAX_REFUSED) stop(`sent ${MAX_REFUSED} messages that were refused, and went on: ${problem}`)
    else if (number !== undefined && (type === 'api' || type === 'kv'))
      listener.message({ type: 'refused', id, reason: problem })
    else if (number !== undefined && (type === 'result' || type === 'failure'))
      listener.message({ type: 'failure', run: id, isChosen: false, error: { message: problem } })
    else if (type !== 'log') stop(`sent something that is no message: ${problem}`)
  }

  return {
    line: (line) => {
      if (isOver) return
      if (messages.add(1) > MAX_MESSAGES_PER_SECOND) {
        stop(`sent more than ${MAX_MESSAGES_PER_SECOND} messages in a second`)
        return
      }
      const problem = problemOf(line)
      const message = problem === undefined ? readMessage(line) : undefined
      if (message === undefined) refuse(line, problem ?? 'It is not of the form of a message.')
      else listener.message(message)
    },
    tooLong: (head) => {
      if (!isOver) refuse(head, `A message has at most ${MAX_LINE} characters.`)
    },
    bytes: (count) => {
      if (isOver || characters.add(count) <= MAX_CHARACTERS_PER_SECOND) return
      source.pause()
      setTimeout(() => source.resume(), characters.restMs()).unref()
    },
  }
}

/** Returns why a line may not be parsed, as a sentence. */
function problemOf(line: string): string | undefined {
  const [, type = ''] = HEAD.exec(line) ?? []
  const most = Object.hasOwn(MAX_CHARACTERS, type) ? (MAX_CHARACTERS[type] ?? MAX_LINE) : MAX_LINE
  if (line.length > most) return `A message of this type has at most ${most} characters.`
  const { maxDepth, maxValues } = MESSAGE
  const exceeded = exceededLimit(line, MESSAGE)
  if (exceeded === 'depth') return `A message has at most ${maxDepth} levels of JSON.`
  return exceeded === undefined ? undefined : `A message has at most ${maxValues} values of JSON.`
}

/**
 * Parses a result. Its limits are those of a text that a plugin wrote. @throws Error with the reason as a
 * sentence
 */
export function parseInner(text: string): unknown {
  const exceeded = exceededLimit(text, INNER)
  if (exceeded === 'depth') throw new Error(`It has more than ${INNER.maxDepth} levels of JSON.`)
  if (exceeded !== undefined) throw new Error(`It has more than ${INNER.maxValues} values of JSON.`)
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('It is no JSON.')
  }
}

/** Parses the details of an error; undefined if they are too much, or no JSON. */
export function parseDetails(text: string): unknown {
  try {
    return text.length > MAX_DETAILS ? undefined : parseInner(text)
  } catch {
    return undefined
  }
}

/** Counts within seconds. */
function createSecond() {
  let second = 0
  let count = 0
  return {
    add: (more: number): number => {
      const now = Math.floor(performance.now() / 1_000)
      if (now !== second) count = 0
      second = now
      count += more
      return count
    },
    /** The milliseconds until the next second begins. */
    restMs: () => Math.max(1, (second + 1) * 1_000 - performance.now()),
  }
}
