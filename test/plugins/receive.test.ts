import { describe, expect, test } from 'vitest'
import { createLineReader, type FromPlugin, MAX_LINE } from '../../src/plugins/messages.ts'
import { createReceiver, parseDetails, parseInner } from '../../src/plugins/receive.ts'

function receiver() {
  const messages: FromPlugin[] = []
  const ends: string[] = []
  let pauses = 0
  const source = { pause: () => (pauses += 1), resume: () => undefined }
  const listener = { message: (message: FromPlugin) => messages.push(message), ended: () => undefined }
  const receive = createReceiver(listener, { end: (reason) => ends.push(reason), source })
  return { messages, ends, pauses: () => pauses, ...receive }
}

/** Three characters for each list. */
const lists = (count: number) => `[${Array.from({ length: count }, () => '[]').join()}]`

const kv = (fields: object) => JSON.stringify({ type: 'kv', id: 7, run: 1, ...fields })

describe('a message', () => {
  test('of its own form is passed on', () => {
    const { line, messages } = receiver()
    line(kv({ operation: 'get', key: 'a' }))
    expect(messages).toEqual([{ type: 'kv', id: 7, operation: 'get', key: 'a' }])
  })

  test.each([
    ['millions of lists', `{"type":"kv","id":7,"run":1,"x":${lists(600_000)}}`],
    ['as many in an api request', `{"type":"api","id":7,"run":1,"x":${lists(3_000_000)}}`],
    ['too deep', `{"type":"kv","id":7,"run":1,"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['too long for the store', kv({ operation: 'set', key: 'a', value: 'x'.repeat(3_000_000) })],
    ['a key that is no text', kv({ operation: 'get', key: 7 })],
    ['a ttl that is no number', kv({ operation: 'set', key: 'a', value: '1', ttlSec: null })],
    ['a path of another server', '{"type":"api","id":7,"run":1,"method":"GET","path":"@example.com/"}'],
    [
      'headers in a path',
      '{"type":"api","id":7,"run":1,"method":"GET","path":"/api/v1/a HTTP/1.1\\r\\nb: c"}',
    ],
  ])('that is over a bound, %s, is answered with an error in no time', (_what, text) => {
    const { line, messages, ends } = receiver()
    const start = performance.now()
    line(text)
    expect(performance.now() - start).toBeLessThan(500)
    expect(messages).toEqual([{ type: 'refused', id: 7, reason: expect.any(String) }])
    expect(ends).toEqual([])
  })

  test('with a result that cannot be read fails its call', () => {
    const { line, messages } = receiver()
    line(`{"type":"result","run":3,"value":${lists(400)}}`)
    expect(messages).toEqual([
      {
        type: 'failure',
        run: 3,
        isChosen: false,
        error: { message: 'A message has at most 300 values of JSON.' },
      },
    ])
  })

  test('that is refused again and again ends the process', () => {
    const { line, messages, ends } = receiver()
    for (let at = 0; at < 30; at += 1) line(kv({ operation: 'get', key: at }))
    expect(messages).toHaveLength(20)
    expect(ends).toEqual([expect.stringContaining('sent 20 messages that were refused, and went on')])
  })

  test.each(['', 'this is no message', '[]', 'null', '{"type":"other"}', '{"id":7,"type":"kv"}'])(
    'that is none, %j, ends the process',
    (text) => {
      const { line, ends } = receiver()
      line(text)
      expect(ends).toEqual([expect.stringContaining('no message')])
    },
  )

  test('with an error has a short message and code', () => {
    const { line, messages } = receiver()
    const error = { message: 'm'.repeat(100_000), code: 'c'.repeat(1_000), status: 400 }
    line(JSON.stringify({ type: 'failure', run: 3, isChosen: true, error }))
    expect(messages).toEqual([
      expect.objectContaining({
        error: { message: 'm'.repeat(8_192), code: 'c'.repeat(256), status: 400, details: undefined },
      }),
    ])
  })

  test('waits in the pipe after many characters within a second', () => {
    const { bytes, pauses } = receiver()
    for (let at = 0; at < 8; at += 1) bytes(8 * 1024 * 1024)
    expect(pauses()).toBeGreaterThan(0)
  })
})

describe('a line', () => {
  const read = (pieces: readonly string[]) => {
    const lines: number[] = []
    const heads: string[] = []
    const next = createLineReader(
      (line) => lines.push(line.length),
      (head) => heads.push(head.slice(0, 30)),
    )
    return { wants: pieces.map(next), lines, heads }
  }

  test('that is too long is dropped but for its beginning, and the next one is read', () => {
    const piece = 'x'.repeat(1024 * 1024)
    const begin = '{"type":"api","id":7,'
    expect(read([begin, ...Array.from({ length: 20 }, () => piece), '\nabc\n'])).toEqual({
      wants: Array.from({ length: 22 }, () => true),
      lines: [3],
      heads: [(begin + piece).slice(0, 30)],
    })
    expect(read([`${'y'.repeat(MAX_LINE + 1)}\n`])).toMatchObject({ lines: [], heads: ['y'.repeat(30)] })
  })

  test('without an end ends the process', () => {
    const { wants } = read(Array.from({ length: 60 }, () => 'x'.repeat(1024 * 1024)))
    expect(wants[10]).toBe(true)
    expect(wants.at(-1)).toBe(false)
  })
})

describe('a text inside a message', () => {
  test('is bounded in values and depth before it is parsed', () => {
    expect(parseInner('[1,{"a":2}]')).toEqual([1, { a: 2 }])
    expect(() => parseInner(lists(1_300_000))).toThrow('more than 200000 values')
    expect(() => parseInner(`${'['.repeat(65)}${']'.repeat(65)}`)).toThrow('more than 64 levels')
    expect(() => parseInner('{"forged":')).toThrow('It is no JSON.')
  })

  test('of details is undefined beyond its bounds', () => {
    expect(parseDetails('{"left":"0"}')).toEqual({ left: '0' })
    expect(parseDetails(`"${'x'.repeat(300_000)}"`)).toBeUndefined()
    expect(parseDetails('{')).toBeUndefined()
  })
})
