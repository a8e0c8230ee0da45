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

  test('a contract cannot fill the log', () => {
    expect(decodeRevert(errorOf('x'.repeat(100_000)), '').length).toBeLessThan(1_100)
    expect(decodeRevert(`${custom}${'00'.repeat(100_000)}`, '').length).toBeLessThan(1_100)
  })
})
