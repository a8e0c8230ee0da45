import { verifyMessage } from 'viem'
import type { Schemas } from '../../src/contract/operations.ts'
import { must, say } from './say.ts'
import { fund, type Stage } from './stage.ts'

const RECEIVER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const OTHER_RECEIVER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
const MESSAGE = 'hello from the relayer'

/** A status that takes longer than this will not come, in ms. */
const PATIENCE_MS = 15_000

type Transaction = Schemas['TransactionWithAttempts']
type Data<T> = { readonly data: T }

/** List, sign, send, wait, replace, mine: every claim is checked, and the demo fails when one does not hold. */
export async function tellTheStory(stage: Stage): Promise<void> {
  const relayer = await listRelayers(stage)
  await listNotifications(stage)
  await signMessage(stage, relayer)
  const first = await sendCheap(stage, relayer)
  const second = await replace(stage, relayer, first)
  await mineAndCompare(stage, relayer, { first, second })
}

async function listRelayers(stage: Stage): Promise<Schemas['Relayer']> {
  say.step('List the relayers: GET /api/v1/relayers')
  const { data } = await stage.api<Data<Schemas['Relayer'][]>>('GET', '/relayers')
  const [relayer] = data
  must(relayer !== undefined, 'no relayer is configured')
  say.fact('relayer', `${relayer.id} on ${relayer.network}`)
  say.fact('address', relayer.address)
  await fund(stage, relayer.address)
  return relayer
}

async function listNotifications(stage: Stage): Promise<void> {
  say.step('List the notifications: GET /api/v1/notifications')
  const { data } = await stage.api<Data<Schemas['Notification'][]>>('GET', '/notifications')
  for (const { id, url } of data) say.fact(id, url)
}

async function signMessage(stage: Stage, relayer: Schemas['Relayer']): Promise<void> {
  say.step('Sign a message and verify the signature: POST …/sign')
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
  say.step('Send 1 ether with a low fee: POST …/transactions')
  const body = {
    to: RECEIVER,
    value: '1000000000000000000',
    max_fee_per_gas: 1_100_000_000,
    max_priority_fee_per_gas: 1_000_000,
  }
  const { data } = await stage.api<Data<Transaction>>('POST', `/relayers/${relayer.id}/transactions`, body)
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

async function replace(stage: Stage, relayer: Schemas['Relayer'], first: Transaction): Promise<Transaction> {
  say.step('Replace it with 2 ether to somebody else, fast: PUT …/transactions/{id}')
  const body = { to: OTHER_RECEIVER, value: '2000000000000000000', speed: 'fast' }
  const path = `/relayers/${relayer.id}/transactions/${first.id}`
  const { data } = await stage.api<Data<Transaction>>('PUT', path, body)
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
  say.step('Mine, and ask both the service and the node what happened')
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

async function reach(
  stage: Stage,
  { relayer_id, id }: Transaction,
  status: Transaction['status'],
): Promise<Transaction> {
  const deadline = Date.now() + PATIENCE_MS
  for (;;) {
    const { data } = await stage.api<Data<Transaction>>('GET', `/relayers/${relayer_id}/transactions/${id}`)
    if (data.status === status) return data
    if (Date.now() > deadline)
      throw new Error(`the transaction is still ${data.status}: ${data.status_reason ?? ''}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

function describe({ status, hash, nonce, value, max_fee_per_gas }: Transaction): void {
  say.fact('status', status)
  say.fact('hash', hash)
  say.fact('nonce', nonce)
  say.fact('value', `${value} wei, at most ${max_fee_per_gas} wei per gas`)
}
