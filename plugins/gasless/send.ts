import { zeroAddress } from 'viem'
import { ApiRefusal, callApi, locked, Unavailable, type World } from '../shared/host.ts'
import { readBatch } from './accounts/batch.ts'
import type { Settings } from './config.ts'
import { findSent, idOf, type Known, type Order, type RelayedTransaction } from './content.ts'
import { readRedemption } from './delegations/redemption.ts'
import { admitRequest, userIdOf } from './exposure.ts'
import { paymentOf, requireFee } from './fees/fee.ts'
import { readForward } from './forwarders/forward.ts'
import { gasLimitFor, type Intent } from './intent.ts'
import { countRequest } from './limits.ts'
import { readOperation } from './operations/operation.ts'
import type { Followed } from './progress.ts'
import { networkOf, type Sender, senderOn } from './sender.ts'
import type { Content } from './wire.ts'

/**
 * Sends what users have signed, once: the hash of the content is the idempotency key, so the same content has
 * one transaction and one id, however often, from wherever and with whatever id of JSON-RPC it comes. Only a
 * new one is checked and counted. @throws RpcError
 */
export async function send(order: Order, settings: Settings, world: World): Promise<Followed> {
  const network = networkOf(order.content.chainId, settings)
  const known = await findSent(order, network.relayerId, world)
  if (known.transaction !== undefined) return { ...known, network, transaction: known.transaction }
  return locked(world, `send:${known.id}`, async () => {
    const before = await findSent(order, network.relayerId, world)
    const transaction = before.transaction ?? (await sendNew({ order, known: before }, settings, world))
    return { ...before, network, transaction }
  })
}

/** Checks what would be sent, and sends nothing. @throws RpcError */
export async function check(order: Order, settings: Settings, world: World): Promise<void> {
  const sender = await senderOn(networkOf(order.content.chainId, settings), world)
  const { transaction } = await findSent(order, sender.network.relayerId, world)
  if (transaction !== undefined) return
  const intent = await readIntent(order, sender, settings, world)
  await checkNow({ order, intent }, sender, world)
}

/** The gas that a transaction may use. */
interface PaidGas {
  readonly limit: bigint
  /** The price for which a user pays, in wei; undefined if the application pays. */
  readonly price: bigint | undefined
}

/** Simulates it, and checks what is paid for the gas that it takes. @throws RpcError */
async function checkNow(
  { order, intent }: { readonly order: Order; readonly intent: Intent },
  sender: Sender,
  world: World,
): Promise<PaidGas> {
  const gas = await intent.simulate()
  const { users, calls } = intent
  const account = users[0]?.address ?? zeroAddress
  if (sender.own.has(sender.network.feeCollector))
    throw new Error('config.fee_collector: expected another account than those of the relayer.')
  const price = await requireFee({ ...order.payment, account, calls, gas }, { ...sender, world })
  return { limit: gasLimitFor(gas, intent), price }
}

async function readIntent(
  { content, caller }: Order,
  sender: Sender,
  { leastSeconds }: Settings,
  world: World,
): Promise<Intent> {
  const entryPoint = sender.network.entryPoints.get(content.to)
  if (entryPoint !== undefined)
    return readOperation({ entryPoint, content, caller }, sender, {
      beneficiaries: new Set([...sender.own, sender.network.feeCollector]),
    })
  const manager = sender.network.delegationManagers.get(content.to)
  if (manager !== undefined) return readRedemption({ manager, content, caller }, sender, world)
  const forwarder = sender.network.forwarders.get(content.to)
  const time = { now: world.now(), leastSeconds }
  return forwarder === undefined
    ? readBatch(content, sender, time)
    : readForward({ forwarder, content }, sender, time)
}

async function sendNew(
  { order, known }: { readonly order: Order; readonly known: Known },
  settings: Settings,
  world: World,
): Promise<RelayedTransaction> {
  const { content, caller } = order
  const sender = await senderOn(networkOf(content.chainId, settings), world)
  const intent = await readIntent(order, sender, settings, world)
  const { users, isUncertain, isCreating = false, calls } = intent
  const account = users[0]?.address ?? zeroAddress
  const payment = intent.payment ?? paymentOf(account, { ...order.payment, calls }, sender)
  return admitRequest(
    { users, payment, key: known.key, caller },
    { settings, sender, world },
    {
      check: async () => ({
        funds: await payment?.funds(),
        block: undefined,
        isUncertain,
        gas: await checkNow({ order, intent }, sender, world),
      }),
      send: async ({ gas }) => {
        await intent.bind?.()
        const counted = { caller, users: users.map(({ address }) => address), gas: gas.limit, isCreating }
        await countRequest(counted, settings, world)
        const { relayerId } = sender.network
        return post({ order, key: known.key, intent, gas, relayerId }, settings, world)
      },
    },
  )
}

interface Posted {
  readonly order: Order
  readonly key: string
  readonly intent: Intent
  readonly gas: PaidGas
  readonly relayerId: string
}

/**
 * A user pays for gas at the price that one endpoint told. The service, which asks several, signs nothing
 * while the base fee is above so many times that price.
 */
const HIGHEST_BASE_FEE = 2n

/** Hands it to the service. What it does not answer may be accepted all the same, so it is looked for. */
async function post(
  { order, key, intent, gas, relayerId }: Posted,
  { validSeconds }: Settings,
  world: World,
): Promise<RelayedTransaction> {
  const { content, caller } = order
  const path = `/api/v1/relayers/${encodeURIComponent(relayerId)}/transactions?max_queue_seconds=${validSeconds}`
  const end = Math.floor(world.now() / 1000) + validSeconds
  const body = {
    to: content.to,
    value: '0',
    data: content.data,
    gas_limit: gas.limit.toString(),
    speed: 'fast',
    valid_until: new Date(Math.min(intent.deadline ?? end, end) * 1000).toISOString(),
    ...(gas.price !== undefined && { when: { fee_at_most: String(gas.price * HIGHEST_BASE_FEE) } }),
    reference: idOf(content, 1),
    ...(content.authorizations.length > 0 && { authorization_list: content.authorizations.map(asField) }),
  }
  const userId = userIdOf(caller, intent.users)
  try {
    return (await callApi(world, {
      method: 'POST',
      path,
      body,
      idempotencyKey: key,
      userId,
    })) as RelayedTransaction
  } catch (error) {
    const mayBeSent =
      error instanceof Unavailable || (error instanceof ApiRefusal && error.code === 'idempotency_key_reused')
    const { transaction } = mayBeSent ? await findSent(order, relayerId, world) : { transaction: undefined }
    if (transaction !== undefined) return transaction
    throw error instanceof ApiRefusal && mayBeSent ? new Unavailable(error.message) : error
  }
}

function asField({ chainId, address, nonce, yParity, r, s }: Content['authorizations'][number]) {
  return { chain_id: chainId, address, nonce: Number(nonce), y_parity: yParity, r, s }
}
