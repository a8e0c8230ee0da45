import { encodeAbiParameters, encodeEventTopics, erc20Abi, erc721Abi, erc1155Abi, type Hex } from 'viem'
import { describe, expect, test } from 'vitest'
import type { EvmLog } from '../../../src/chains/answer.ts'
import { transfersInLogs } from '../../../src/chains/evm/effects/transfer-logs.ts'

const TOKEN = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const FROM = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const TO = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const ZERO = `0x${'0'.repeat(40)}` as const
const LARGEST = 2n ** 256n - 1n

const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`
const log = (topics: readonly unknown[], data: string): EvmLog => ({
  logIndex: 0n,
  address: TOKEN,
  topics: topics as string[],
  data,
})
const erc20 = (from: Hex, to: Hex, amount: bigint) =>
  log(encodeEventTopics({ abi: erc20Abi, eventName: 'Transfer', args: { from, to } }), word(amount))
const erc1155 = (eventName: 'TransferSingle' | 'TransferBatch', data: Hex) =>
  log(encodeEventTopics({ abi: erc1155Abi, eventName, args: { operator: TOKEN, from: FROM, to: TO } }), data)
const moved = { from: FROM, to: TO, asset: TOKEN.toLowerCase() }
const { to: _to, ...burnt } = moved
const { from: _from, ...created } = moved

describe('an event', () => {
  test.each<[string, EvmLog, object[]]>([
    ['of ERC-20', erc20(FROM, TO, LARGEST), [{ ...moved, amount: LARGEST }]],
    ['that destroys', erc20(FROM, ZERO, 5n), [{ ...burnt, amount: 5n }]],
    ['that creates', erc20(ZERO, TO, 5n), [{ ...created, amount: 5n }]],
    [
      'of an NFT',
      log(
        encodeEventTopics({
          abi: erc721Abi,
          eventName: 'Transfer',
          args: { from: FROM, to: TO, tokenId: 7n },
        }),
        '0x',
      ),
      [{ ...moved, amount: 1n, tokenId: 7n }],
    ],
    [
      'of ERC-1155',
      erc1155('TransferSingle', encodeAbiParameters([{ type: 'uint256' }, { type: 'uint256' }], [3n, 4n])),
      [{ ...moved, tokenId: 3n, amount: 4n }],
    ],
    [
      'of a batch',
      erc1155(
        'TransferBatch',
        encodeAbiParameters(
          [{ type: 'uint256[]' }, { type: 'uint256[]' }],
          [
            [1n, 2n, 3n],
            [10n, 0n, 30n],
          ],
        ),
      ),
      [
        { ...moved, tokenId: 1n, amount: 10n },
        { ...moved, tokenId: 3n, amount: 30n },
      ],
    ],
  ])('%s', (_name, one, want) => {
    expect(transfersInLogs([one]).transfers).toEqual(want)
  })

  const { topics } = erc20(FROM, TO, 5n)
  test.each<[string, EvmLog]>([
    ['of nothing', erc20(FROM, TO, 0n)],
    ['with data that is too short', log(topics, word(5n).slice(0, -2))],
    ['with data that is too long', log(topics, `${word(5n)}00`)],
    ['without data', log(topics, '0x')],
    ['without topics', log([], word(5n))],
    ['with all of it in its data', log(topics.slice(0, 1), word(5n))],
    ['whose receiver is no address', log([topics[0], topics[1], word(LARGEST)], word(5n))],
    ['of another kind', log([word(7n), topics[1], topics[2]], word(5n))],
    ['of a batch with lists that point anywhere', erc1155('TransferBatch', word(LARGEST))],
    [
      'of a batch with fewer amounts than tokens',
      erc1155(
        'TransferBatch',
        encodeAbiParameters([{ type: 'uint256[]' }, { type: 'uint256[]' }], [[1n, 2n], [10n]]),
      ),
    ],
  ])('%s is none', (_name, one) => {
    expect(transfersInLogs([one]).transfers).toEqual([])
  })
})

test('the first hundred of ten thousand events are read, and no more', () => {
  let read = 0
  function* logs() {
    for (; read < 10_000; read += 1) yield erc20(FROM, TO, BigInt(read + 1))
  }
  const { transfers, truncated } = transfersInLogs(logs())
  expect(truncated).toBe(true)
  expect(transfers.map(({ amount }) => amount)).toEqual(
    Array.from({ length: 100 }, (_, index) => BigInt(index + 1)),
  )
  expect(read).toBe(100)
})
