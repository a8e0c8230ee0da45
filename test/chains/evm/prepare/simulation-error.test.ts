import { describe, expect, test } from 'vitest'
import { readRevertReason } from '../../../../src/chains/evm/inspect.ts'
import { estimateGas } from '../../../../src/chains/evm/prepare/gas.ts'
import { readSimulationError } from '../../../../src/chains/evm/prepare/simulation-error.ts'
import type { RpcClient, RpcReply } from '../../../../src/chains/rpc/rpc.ts'
import { draftOf, FROM, legacy, requestOf } from '../build.ts'

type Failure = Extract<RpcReply, { kind: 'error' }>

const said = (message: string, code = -32000, data?: unknown): Failure => ({
  kind: 'error',
  code,
  message,
  ...(data === undefined ? {} : { data }),
})

describe('errors of a simulation', () => {
  test.each([
    [said('execution reverted: no', 3), 'reverted'],
    // What a contract says of allowances and funds is not what a node says of the account.
    [said('execution reverted: ERC20: transfer amount exceeds allowance', 3), 'reverted'],
    [said('execution reverted: ERC20: transfer amount exceeds allowance'), 'reverted'],
    [said('execution reverted: insufficient funds'), 'reverted'],
    [said('insufficient funds in the vault', 3), 'reverted'],
    [said('VM Exception while processing transaction: insufficient funds'), 'reverted'],
    [said('VM execution error.', -32015, '0x08c379a0'), 'reverted'],
    [said('VM execution error.', -32015, 'Reverted 0x08c379a0'), 'reverted'],
    [said('VM execution error: Reverted 0x08c379a0'), 'reverted'],
    [said('execution reverted'), 'reverted'],
    [said('invalid opcode: INVALID'), 'reverted'],
    [said('EVM error OpcodeNotFound', -32603), 'reverted'],
    [said('EVM error StackUnderflow', -32603), 'reverted'],
    [said('invalid opcode: opcode 0xca not defined'), 'reverted'],
    [said('stack underflow (0 <=> 2)'), 'reverted'],
    [said('invalid jump destination'), 'reverted'],
    [said('contract creation code storage out of gas'), 'reverted'],
    [said('invalid code: must not begin with 0xef'), 'reverted'],
    [said('max code size exceeded'), 'reverted'],
    [said('gas uint64 overflow'), 'reverted'],
    [said('max initcode size exceeded: code size 49153, limit 49152'), 'reverted'],
    [said('gas required exceeds allowance (30000000)'), 'out_of_gas'],
    [said('gas required exceeds allowance (0)'), 'out_of_gas'],
    [said('insufficient funds for transfer'), 'insufficient_funds'],
    [
      said('err: insufficient funds for gas * price + value: address 0xf39F have 0 want 1'),
      'insufficient_funds',
    ],
    [said('EVM error OutOfFunds', -32603), 'insufficient_funds'],
    [said('Upfront cost exceeds account balance'), 'insufficient_funds'],
    [said('missing trie node 5f0e4d'), 'trouble'],
    [said('header not found'), 'trouble'],
    [said('execution aborted (timeout = 5s)'), 'trouble'],
    [said('the stars are not right'), 'unclear'],
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
const STRANGE = said('the stars are not right')

describe('an estimate that fails', () => {
  const request = requestOf({ data: '0xff' })
  test.each([
    {
      name: 'with the words of a contract',
      replies: [said('execution reverted: exceeds allowance', 3)],
      code: 'execution_reverted',
    },
    {
      name: 'for more gas than there is',
      replies: [said('gas required exceeds allowance (30000000)')],
      code: 'execution_reverted',
    },
    {
      name: 'for lack of money',
      replies: [said('insufficient funds for transfer')],
      code: 'insufficient_balance',
    },
    {
      name: 'in strange words, twice, while others are simulated',
      replies: [STRANGE, STRANGE],
      code: 'execution_reverted',
    },
  ])('$name is refused as $code', async ({ replies, code }) => {
    expect(await estimateGas(nodeSaying(replies, ESTIMATE), request, FROM)).toMatchObject({
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
      replies: [said('missing trie node'), said('missing trie node')],
      control: ESTIMATE,
    },
  ])('$name is unknown (I6)', async ({ replies, control }) => {
    expect(await estimateGas(nodeSaying(replies, control), request, FROM)).toMatchObject({ kind: 'unknown' })
  })
})

describe('the reason of a revert', () => {
  test.each([
    { reply: said('execution reverted: too late', 3), want: 'too late' },
    { reply: said('missing trie node 5f0e4d'), want: undefined },
    { reply: said('insufficient funds for gas * price + value'), want: undefined },
    { reply: said('the stars are not right'), want: undefined },
  ])('from "$reply.message": $want', async ({ reply, want }) => {
    const client = nodeSaying([reply], ESTIMATE)
    const draft = draftOf(legacy(1n), { data: '0xff' })
    expect(await readRevertReason(client, { draft, from: FROM, block: 5n })).toBe(want)
  })
})
