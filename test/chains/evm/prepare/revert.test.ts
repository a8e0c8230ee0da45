import { encodeErrorResult, parseAbi } from 'viem'
import { describe, expect, test } from 'vitest'
import { decodeRevert } from '../../../../src/chains/evm/prepare/revert.ts'

const abi = parseAbi(['error Error(string)', 'error Panic(uint256)', 'error Paused(uint256 until)'])
const errorOf = (text: string) => encodeErrorResult({ abi, errorName: 'Error', args: [text] })
const panicOf = (code: bigint) => encodeErrorResult({ abi, errorName: 'Panic', args: [code] })
const custom = encodeErrorResult({ abi, errorName: 'Paused', args: [7n] })

describe('decodeRevert', () => {
  test.each([
    { name: 'Error(string)', data: errorOf('not enough'), want: 'not enough' },
    { name: 'Error(string) with more than ASCII', data: errorOf('größer als 5 €'), want: 'größer als 5 €' },
    { name: 'inside an object, as some nodes give it', data: { data: errorOf('nested') }, want: 'nested' },
    { name: 'under result', data: { result: errorOf('older') }, want: 'older' },
    {
      name: 'after a word, as in OpenEthereum, Besu and Nethermind',
      data: `Reverted ${errorOf('spelled out')}`,
      want: 'spelled out',
    },
    {
      name: 'in the error of the node, which a wallet or a gateway wrapped',
      data: { originalError: { code: 3, data: errorOf('wrapped'), message: 'execution reverted: wrapped' } },
      want: 'wrapped',
    },
    {
      name: 'in a wrapped error within data, as in Hardhat',
      data: { message: 'reverted', txHash: `0x${'ab'.repeat(32)}`, data: errorOf('of hardhat') },
      want: 'of hardhat',
    },
    {
      name: 'under the hash of the transaction, as in Ganache',
      data: { [`0x${'ab'.repeat(32)}`]: { error: 'revert', return: errorOf('of ganache'), reason: 'no' } },
      want: 'of ganache',
    },
    { name: 'Panic 0x11', data: panicOf(0x11n), want: 'panic 0x11 (arithmetic overflow or underflow)' },
    { name: 'Panic with a code that nobody knows', data: panicOf(0xffn), want: 'panic 0xff (unknown code)' },
    { name: 'a custom error', data: custom, want: `custom error ${custom.slice(0, 10)}, data ${custom}` },
    { name: 'less than a selector', data: '0x0102', want: 'revert data 0x0102' },
    {
      name: 'the selector of Error without its layout',
      data: '0x08c379a0ff',
      want: 'custom error 0x08c379a0, data 0x08c379a0ff',
    },
    { name: 'no data, a reason in the message', data: undefined, want: 'from the message' },
    { name: 'empty data', data: '0x', want: 'from the message' },
    { name: 'garbage', data: 42, want: 'from the message' },
    { name: 'null', data: null, want: 'from the message' },
  ])('$name', ({ data, want }) => {
    expect(decodeRevert(data, 'execution reverted: from the message')).toBe(want)
  })

  test('says so when there is no reason at all', () => {
    expect(decodeRevert(undefined, 'execution reverted')).toBe('no reason given')
  })

  test.each([
    { name: 'as text', data: 'execution reverted: of the node' },
    { name: 'as a message', data: { code: 3, message: 'execution reverted: of the node' } },
    {
      name: 'three errors deep',
      data: { error: { cause: { message: 'execution reverted: of the node', code: 3 } } },
    },
    {
      name: 'beside other words',
      data: { reason: 'SERVER_ERROR', message: 'execution reverted: of the node' },
    },
  ])('finds the reason within the data of a message that says nothing: $name', ({ data }) => {
    expect(decodeRevert(data, 'Internal JSON-RPC error.')).toBe('of the node')
  })

  test('does not look for ever in what a gateway answers', () => {
    const deep = Array.from({ length: 10_000 }).reduce<object>((inner) => ({ inner }), { message: 'x' })
    const wide = Object.fromEntries(
      Array.from({ length: 100_000 }, (_, index) => [`f${index}`, { a: { b: {} } }]),
    )
    for (const data of [deep, wide])
      expect(decodeRevert(data, 'Internal JSON-RPC error.')).toBe('Internal JSON-RPC error.')
  })

  test('a contract cannot fill the log', () => {
    expect(decodeRevert(errorOf('x'.repeat(100_000)), '').length).toBeLessThan(1_100)
    expect(decodeRevert(`${custom}${'00'.repeat(100_000)}`, '').length).toBeLessThan(1_100)
  })
})
