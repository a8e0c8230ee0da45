import { encodeErrorResult, parseAbi } from 'viem'
import { describe, expect, test } from 'vitest'
import { estimateGas } from '../../../../src/chains/evm/prepare/gas.ts'
import { decodeRevert, readSimulationError } from '../../../../src/chains/evm/prepare/revert.ts'
import { readRevertReason } from '../../../../src/chains/evm/read/reads.ts'
import type { RpcClient, RpcReply } from '../../../../src/chains/rpc/rpc.ts'
import { draftOf, FROM, legacy, requestOf } from '../build.ts'

type Failure = Extract<RpcReply, { kind: 'error' }>

const errorOf = (message: string, code = -32000, data?: unknown): Failure => ({
  kind: 'error',
  code,
  message,
  ...(data === undefined ? {} : { data }),
})

describe('errors of a simulation', () => {
  test.each([
    [errorOf('execution reverted: no', 3), 'reverted'],
    // The author of a contract chooses the words about allowances and funds, so they say nothing about the account.
    [errorOf('execution reverted: ERC20: transfer amount exceeds allowance', 3), 'reverted'],
    [errorOf('execution reverted: ERC20: transfer amount exceeds allowance'), 'reverted'],
    [errorOf('execution reverted: insufficient funds'), 'reverted'],
    // Under the code of a revert alone they may be the words of a contract, and a call of nothing decides.
    [errorOf('insufficient funds in the vault', 3), 'unclear'],
    [errorOf('EVM error OutOfGas', 3), 'reverted'],
    [errorOf('some reason', 3, '0x08c379a0'), 'reverted'],
    [
      errorOf('insufficient funds for gas + value. balance: 1, fee: 2, value: 3', 3, '0x'),
      'insufficient_funds',
    ],
    [errorOf('not enough balance to cover the fee. error message: x', 3, '0x'), 'insufficient_funds'],
    [errorOf('server shutting down', 3, '0x'), 'unavailable'],
    [errorOf('max fee per gas less than block base fee', 3, '0x'), 'unavailable'],
    [errorOf('exceeds block gas limit', 3, '0x'), 'out_of_gas'],
    [errorOf('execution reverted: exceeds block gas limit', 3, '0x08c379a0'), 'reverted'],
    // A gateway has wrapped the error of its node.
    [errorOf('Internal JSON-RPC error.', -32603, { message: 'execution reverted: no', code: 3 }), 'reverted'],
    [errorOf('Internal JSON-RPC error.', -32603, { originalError: { data: '0x08c379a0' } }), 'reverted'],
    [errorOf('Internal JSON-RPC error.', -32603, 'execution reverted: no'), 'reverted'],
    [
      errorOf('Internal JSON-RPC error.', -32603, { message: 'insufficient funds for gas * price + value' }),
      'insufficient_funds',
    ],
    [errorOf('Internal JSON-RPC error.', -32603, { message: 'request timed out' }), 'unavailable'],
    [errorOf('Internal JSON-RPC error.', -32603), 'unclear'],
    [errorOf('VM Exception while processing transaction: insufficient funds'), 'reverted'],
    [errorOf('VM execution error.', -32015, '0x08c379a0'), 'reverted'],
    [errorOf('VM execution error.', -32015, 'Reverted 0x08c379a0'), 'reverted'],
    [errorOf('VM execution error: Reverted 0x08c379a0'), 'reverted'],
    [errorOf('execution reverted'), 'reverted'],
    [errorOf('invalid opcode: INVALID'), 'reverted'],
    [errorOf('EVM error OpcodeNotFound', -32603), 'reverted'],
    [errorOf('EVM error StackUnderflow', -32603), 'reverted'],
    [errorOf('invalid opcode: opcode 0xca not defined'), 'reverted'],
    [errorOf('stack underflow (0 <=> 2)'), 'reverted'],
    [errorOf('invalid jump destination'), 'reverted'],
    [errorOf('contract creation code storage out of gas'), 'reverted'],
    [errorOf('invalid code: must not begin with 0xef'), 'reverted'],
    [errorOf('max code size exceeded'), 'reverted'],
    [errorOf('gas uint64 overflow'), 'reverted'],
    [errorOf('max initcode size exceeded: code size 49153, limit 49152'), 'reverted'],
    [errorOf('gas required exceeds allowance (30000000)'), 'out_of_gas'],
    [errorOf('gas required exceeds allowance (0)'), 'out_of_gas'],
    [errorOf('insufficient funds for transfer'), 'insufficient_funds'],
    [
      errorOf('err: insufficient funds for gas * price + value: address 0xf39F have 0 want 1'),
      'insufficient_funds',
    ],
    [errorOf('EVM error OutOfFunds', -32603), 'insufficient_funds'],
    [errorOf('Upfront cost exceeds account balance'), 'insufficient_funds'],
    [errorOf('missing trie node 5f0e4d'), 'unavailable'],
    [errorOf('header not found'), 'unavailable'],
    [errorOf('execution aborted (timeout = 5s)'), 'unavailable'],
    [errorOf('the stars are not right'), 'unclear'],
  ] as const)('%j: %s', (reply, want) => {
    expect(readSimulationError(reply)).toBe(want)
  })
})

/** Says `replies` in turn to the content, and `control` to a call of nothing. */
function nodeSaying(replies: readonly RpcReply[], control: RpcReply): RpcClient {
  const left = [...replies]
  const answer = (params: unknown): RpcReply => {
    const [{ data }] = params as [{ data: string }]
    return data === '0x' ? control : (left.shift() ?? { kind: 'unknown', detail: 'nothing is left' })
  }
  return {
    call: async (_method, params) => answer(params),
    send: async (calls) => calls.map(({ params }) => answer(params)),
  }
}

const ESTIMATE: RpcReply = { kind: 'result', result: '0x5208' }
const STRANGE = errorOf('the stars are not right')

describe('an estimate that fails', () => {
  const request = requestOf({ data: '0xff' })
  test.each([
    {
      name: 'with the words of a contract',
      replies: [errorOf('execution reverted: exceeds allowance', 3)],
      code: 'execution_reverted',
    },
    {
      name: 'for more gas than there is',
      replies: [errorOf('gas required exceeds allowance (30000000)')],
      code: 'execution_reverted',
    },
    {
      name: 'for lack of money',
      replies: [errorOf('insufficient funds for transfer')],
      code: 'insufficient_balance',
    },
    {
      name: 'in strange words, twice, while others are simulated',
      replies: [STRANGE, STRANGE],
      code: 'execution_reverted',
    },
  ])('$name is refused as $code', async ({ replies, code }) => {
    expect(await estimateGas({ client: nodeSaying(replies, ESTIMATE) }, request, FROM)).toMatchObject({
      kind: 'refused',
      refusal: { code },
    })
  })

  test.each([
    { name: 'in strange words, while nothing is simulated', replies: [STRANGE, STRANGE], control: STRANGE },
    { name: 'in strange words once', replies: [STRANGE, ESTIMATE], control: ESTIMATE },
    { name: 'in strange words, then in silence', replies: [STRANGE], control: ESTIMATE },
    {
      name: 'for lack of state',
      replies: [errorOf('missing trie node'), errorOf('missing trie node')],
      control: ESTIMATE,
    },
  ])('$name is unknown (I6)', async ({ replies, control }) => {
    expect(await estimateGas({ client: nodeSaying(replies, control) }, request, FROM)).toMatchObject({
      kind: 'unknown',
    })
  })
})

describe('the reason of a revert', () => {
  test.each([
    { reply: errorOf('execution reverted: too late', 3), want: 'too late' },
    { reply: errorOf('too late, says the contract', 3), want: 'too late, says the contract' },
    { reply: errorOf('missing trie node 5f0e4d'), want: undefined },
    { reply: errorOf('insufficient funds for gas * price + value'), want: undefined },
    { reply: errorOf('the stars are not right'), want: undefined },
  ])('from "$reply.message": $want', async ({ reply, want }) => {
    const client = nodeSaying([reply], ESTIMATE)
    const draft = draftOf(legacy(1n), { data: '0xff' })
    expect(await readRevertReason(client, { draft, from: FROM, block: 5n })).toBe(want)
  })
})

describe('a revert', () => {
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
        data: {
          originalError: { code: 3, data: errorOf('wrapped'), message: 'execution reverted: wrapped' },
        },
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
      {
        name: 'Panic with a code that no one knows',
        data: panicOf(0xffn),
        want: 'panic 0xff (unknown code)',
      },
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
})
