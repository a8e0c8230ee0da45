import { verifyMessage } from 'viem'
import type { Schemas } from '../../src/contract/operations.ts'
import { must, say } from './say.ts'
import type { Stage } from './stage.ts'
import { type Data, reach, replaceBy, send, type Transaction } from './transactions.ts'

const RECEIVER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const OTHER_RECEIVER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
const MESSAGE = 'hello from the relayer'

/** Sign, send, wait, replace, mine. */
export async function tellTheEvmStory(stage: Stage, relayer: Schemas['Relayer']): Promise<void> {
  await signMessage(stage, relayer)
  const first = await sendCheap(stage, relayer)
  const second = await replace(stage, first)
  await mineAndCompare(stage, relayer, { first, second })
}

async function signMessage(stage: Stage, relayer: Schemas['Relayer']): Promise<void> {
  say.step('EVM: sign a message and verify the signature: POST …/sign')
  const { data } = await stage.api<Data<{ sig: string }>>('POST', `/relayers/${relayer.id}/sign`, {
    message: MESSAGE,
  })
  const address = relayer.address as `0x${string}`
  const valid = await verifyMessage({ address, message: MESSAGE, signature: `0x${data.sig}` })
  must(valid, 'the signature does not belong to the address of the relayer')
  say.fact('message', MESSAGE)
  say.fact('signature', `0x${data.sig.slice(0, 24)}… belongs to ${relayer.address}`)
}

async function sendCheap(stage: Stage, relayer: Schemas['Relayer']): Promise<Transaction> {
  say.step('EVM: send 1 ether with a low fee: POST …/transactions')
  const body = {
    to: RECEIVER,
    value: '1000000000000000000',
    max_fee_per_gas: 1_100_000_000,
    max_priority_fee_per_gas: 1_000_000,
  }
  const data = await send(stage, relayer, body)
  say.fact('id', data.id)
  const submitted = await reach(stage, data, 'submitted')
  describe(submitted)
  const known = await stage.rpc<{ blockNumber: string | null } | null>('eth_getTransactionByHash', [
    submitted.hash,
  ])
  must(known !== null && known.blockNumber === null, 'the transaction does not wait in the pool')
  say.fact('node', 'holds it in its pool, in no block')
  return submitted
}

async function replace(stage: Stage, first: Transaction): Promise<Transaction> {
  say.step('EVM: replace it with 2 ether to another account, fast: PUT …/transactions/{id}')
  const body = { to: OTHER_RECEIVER, value: '2000000000000000000', speed: 'fast' }
  const data = await replaceBy(stage, first, body)
  describe(data)
  must(
    data.nonce === first.nonce && data.hash !== first.hash,
    'the replacement has another nonce or the same hash',
  )
  return data
}

async function mineAndCompare(
  stage: Stage,
  relayer: Schemas['Relayer'],
  { first, second }: { first: Transaction; second: Transaction },
): Promise<void> {
  say.step('EVM: mine, and ask both the service and the node what happened')
  await stage.rpc('anvil_mine', ['0x2'])
  const final = await reach(stage, second, 'confirmed')
  const receipt = await stage.rpc<{ blockNumber: string } | null>('eth_getTransactionReceipt', [second.hash])
  const replaced = await stage.rpc('eth_getTransactionReceipt', [first.hash])
  const used = BigInt(await stage.rpc<string>('eth_getTransactionCount', [relayer.address, 'latest']))
  must(final.hash === second.hash && receipt !== null, 'the replacement was not mined')
  must(replaced === null, 'the replaced transaction was mined, too')
  must(used === 1n, `${used} nonces were used instead of one`)
  describe(final)
  say.fact('block', BigInt(receipt.blockNumber))
  say.fact('first hash', `${first.hash} was never mined`)
  say.fact('nonces used', used)
  say.line('\nThe hash that PUT answered is the one that the chain has, and one nonce was used.')
}

function describe({ status, hash, nonce, value, max_fee_per_gas }: Transaction): void {
  say.fact('status', status)
  say.fact('hash', hash)
  say.fact('nonce', nonce)
  say.fact('value', `${value} wei, at most ${max_fee_per_gas} wei per gas`)
}
