import { expect, test } from 'vitest'
import { createUnknownTexts } from '../../src/chains/rpc/refusals.ts'
import { createLogger } from '../../src/log.ts'

function setUp() {
  const lines: { text: string; call: string; network: string; msg: string }[] = []
  const counted: string[] = []
  const texts = createUnknownTexts({
    network: 'anvil',
    log: createLogger({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) }),
    observer: { asked: () => {}, unknownText: (call) => void counted.push(call) },
  })
  return { texts, lines, counted }
}

test('each unknown sentence of a node is counted, and logged once whatever its numbers are', () => {
  const { texts, lines, counted } = setUp()
  texts.saw('broadcast', 'the stars are 7 degrees off')
  texts.saw('broadcast', 'the stars are 12 degrees off')
  texts.saw('estimate', 'the stars are 7 degrees off')
  expect(counted).toEqual(['broadcast', 'broadcast', 'estimate'])
  expect(lines.map(({ call, network, text }) => `${network} ${call} ${text}`)).toEqual([
    'anvil broadcast the stars are 7 degrees off',
    'anvil estimate the stars are 7 degrees off',
  ])
})

test('a logged sentence is short, without urls, keys, hashes and bytes, which may be secret', () => {
  const { texts, lines } = setUp()
  const key = 'v1_abcdefABCDEF0123456789'
  texts.saw('broadcast', `upstream https://user:pass@rpc.example/${key}?k=${key} said no`)
  texts.saw('broadcast', `account ${key} of 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 is out of credit`)
  texts.saw('broadcast', `bad bytes 0x${'ab'.repeat(5_000)}`)
  texts.saw('broadcast', 'no '.repeat(1_000))
  const written = JSON.stringify(lines)
  expect(written).not.toContain(key)
  expect(written).not.toMatch(/pass|f39Fd6|abab/)
  expect(lines[0]?.text).toBe('upstream [url] said no')
  expect(lines[1]?.text).toBe('account […] of […] is out of credit')
  expect(Math.max(...lines.map(({ text }) => text.length))).toBeLessThanOrEqual(301)
})

test('only a bounded number of sentences is remembered', () => {
  const { texts, lines } = setUp()
  const words = (index: number) => [...String(index)].map((digit) => 'abcdefghij'[Number(digit)]).join(' ')
  for (let index = 0; index <= 200; index += 1) texts.saw('broadcast', words(index))
  texts.saw('broadcast', words(200))
  texts.saw('broadcast', words(0))
  expect(lines).toHaveLength(202)
})
