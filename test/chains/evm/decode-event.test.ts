import { encodeAbiParameters, encodeEventTopics, type Hex, parseAbi } from 'viem'
import { describe, expect, test } from 'vitest'
import type { EvmLog } from '../../../src/chains/answer.ts'
import { decodeEvent } from '../../../src/chains/evm/call/decode-event.ts'
import { FROM, TO } from './build.ts'

const ERC20 = parseAbi(['event Transfer(address indexed from, address indexed to, uint256 value)'])
const ERC721 = parseAbi(['event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)'])
const ERC1155 = parseAbi([
  'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)',
])
const HUGE = 2n ** 255n + 1n

const [from, to] = [FROM as Hex, TO as Hex]

function logOf(topics: readonly unknown[], data: Hex = '0x'): EvmLog {
  return {
    logIndex: 0n,
    address: '0x00000000000000000000000000000000000000aa',
    topics: topics as string[],
    data,
  }
}

const valuesOf = (log: EvmLog, registered?: readonly unknown[]) =>
  decodeEvent(log, registered)?.args.map(({ name, value }) => [name, value])

describe('an event of a standard', () => {
  test('is told apart from one of another standard by what is indexed', () => {
    const money = encodeAbiParameters([{ type: 'uint256' }], [HUGE])
    const fungible = logOf(encodeEventTopics({ abi: ERC20, args: { from, to } }), money)
    expect(decodeEvent(fungible)).toMatchObject({
      event: 'Transfer(address,address,uint256)',
      source: 'standard',
    })
    expect(valuesOf(fungible)?.at(-1)).toEqual(['value', String(HUGE)])
    const unique = logOf(encodeEventTopics({ abi: ERC721, args: { from, to, tokenId: HUGE } }))
    expect(valuesOf(unique)?.at(-1)).toEqual(['tokenId', String(HUGE)])
  })

  test('has its lists', () => {
    const topics = encodeEventTopics({ abi: ERC1155, args: { operator: from, from, to } })
    const lists = encodeAbiParameters(
      [{ type: 'uint256[]' }, { type: 'uint256[]' }],
      [
        [1n, 2n],
        [HUGE, 3n],
      ],
    )
    expect(valuesOf(logOf(topics, lists))?.slice(3)).toEqual([
      ['ids', ['1', '2']],
      ['values', [String(HUGE), '3']],
    ])
  })

  test.each<[string, Hex]>([
    ['too short', '0x'],
    ['too long', `0x${'00'.repeat(33)}`],
  ])('is not decoded from data that is %s', (_name, data) => {
    expect(decodeEvent(logOf(encodeEventTopics({ abi: ERC20, args: { from, to } }), data))).toBeUndefined()
  })

  test('is not decoded from a topic that is no address, or without topics', () => {
    const [topic] = encodeEventTopics({ abi: ERC20 })
    const word = `0x${'ff'.repeat(32)}`
    const money = encodeAbiParameters([{ type: 'uint256' }], [1n])
    expect(decodeEvent(logOf([topic, word, word], money))).toBeUndefined()
    expect(decodeEvent(logOf([], money))).toBeUndefined()
  })
})

describe('a registered event', () => {
  const ABI = parseAbi(['event Paid(bytes32 indexed id, int8 indexed change, bytes indexed memo, bool done)'])
  const id = `0x${'12'.repeat(32)}` as const
  const topics = encodeEventTopics({ abi: ABI, args: { id, change: -7, memo: '0xbeef' } })
  const log = logOf(topics, encodeAbiParameters([{ type: 'bool' }], [true]))

  test('has the values of its topics, and the hash of an indexed value that is no word', () => {
    expect(valuesOf(log, ABI)).toEqual([
      ['id', id],
      ['change', '-7'],
      ['memo', topics[3]],
      ['done', true],
    ])
  })

  test('is found among items that are none, or that would be refused now', () => {
    const others = [
      { type: 'function', name: 'f' },
      { type: 'event' },
      { type: 'event', name: 'X', inputs: 7 },
    ]
    expect(decodeEvent(log, [...others, ...ABI])).toMatchObject({ source: 'registered' })
    expect(decodeEvent(log, others)).toBeUndefined()
    expect(decodeEvent(log)).toBeUndefined()
  })

  test('that is anonymous is not decoded', () => {
    expect(decodeEvent(log, [{ ...ABI[0], anonymous: true }])).toBeUndefined()
  })
})
