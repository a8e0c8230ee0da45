import { privateKeyToAccount } from 'viem/accounts'
import type { EveryKind } from '../../test/support/every-kind.ts'
import { DEV_ADDRESSES, RECEIVER, SERVICE_SECRETS, type Service } from '../../test/support/service.ts'
import { SOL, MAIN as SOLANA_ACCOUNT, seedOf, transfer } from '../../test/support/solana-scenario.ts'
import { payment, MAIN as STELLAR_KEY } from '../../test/support/stellar-scenario.ts'
import {
  changeRelayer,
  create,
  createRelayer,
  deliveriesOf,
  schedule,
  send,
  sendWaiting,
} from './starting-data.ts'

/** The records that a key for relayer `other` may not see, and the texts that would tell of them. */
export interface HiddenRecords {
  /** The ids with which paths name them. */
  readonly relayers: readonly string[]
  readonly transactions: readonly string[]
  readonly schedules: readonly string[]
  readonly deliveries: readonly string[]
  readonly notifications: readonly string[]
  /** No answer may contain these. */
  readonly texts: readonly string[]
  /** Of answers, only those of the nodes may contain these: the chain shows them to everyone. */
  readonly textsOnChain: readonly string[]
}

/** No generated value and no example of the contract contains it. */
const MARKER = 'hidden-7c1f'
const NAME = 'Hidden 7c1f'
const DATA = '0x7c1f7c1f7c1f7c1f'
const URL_OF_WEBHOOK = `http://localhost:9/${MARKER}`

/** Wei for the fees of the transactions. */
const BALANCE = '0xde0b6b3a7640000'

const RELAYERS = ['main', 'stellar', 'solana', MARKER]

const hex = (seed: Uint8Array) => Buffer.from(seed).toString('hex')
const SPARE_KEY = hex(seedOf('spare'))

const SECRETS = [...SERVICE_SECRETS, STELLAR_KEY.secret(), hex(seedOf('main')), SPARE_KEY]

/**
 * Creates the relayer, the notification, the transactions and the deliveries that the key may not see. `main` shares the notification
 * `ops` with `other`, so that one list holds visible and hidden deliveries.
 */
export async function createHiddenRecords({ service, anvil }: EveryKind): Promise<HiddenRecords> {
  await create(service, '/notifications', { id: MARKER, url: URL_OF_WEBHOOK })
  // Before the relayer is there: without a balance it would be disabled.
  const { address } = privateKeyToAccount(`0x${SPARE_KEY}`)
  await anvil.rpc('anvil_setBalance', [address, BALANCE])
  await createRelayer(service, { id: MARKER, name: NAME, signer_id: 'spare' })
  await tell(service)
  const onEvm = { to: RECEIVER, value: 1, data: DATA, speed: 'fast', gas_limit: 100_000 }
  const transactions = [
    await send(service, 'main', onEvm),
    await send(service, MARKER, onEvm),
    await sendWaiting(service, MARKER, onEvm),
    await send(service, 'stellar', payment(1)),
    await send(service, 'solana', transfer(SOL)),
  ].map(({ id }) => id)
  const schedules = [
    await schedule(service, 'main', onEvm),
    await schedule(service, MARKER, onEvm),
    await schedule(service, 'stellar', payment(1)),
  ]
  // The first ones of `ops` are those of `main`, as long as `other` has sent nothing.
  const deliveries = [
    ...(await deliveriesOf(service, 'ops', 1)),
    ...(await deliveriesOf(service, MARKER, RELAYERS.length - 1)),
  ]
  return {
    relayers: RELAYERS,
    transactions,
    schedules,
    deliveries,
    notifications: [MARKER],
    // With its quotation marks the short id stands in JSON and in the labels of metrics, and in no sentence.
    texts: [...transactions, ...schedules, ...deliveries, MARKER, NAME, '"main"', ...SECRETS],
    textsOnChain: [address, DEV_ADDRESSES[0], STELLAR_KEY.publicKey(), SOLANA_ACCOUNT, DATA.slice(2)],
  }
}

/** Names the hidden relayers unmistakably, and gives all but `main` the hidden notification. */
async function tell(service: Service): Promise<void> {
  for (const id of RELAYERS)
    await changeRelayer(service, id, { name: NAME, ...(id !== 'main' && { notification_id: MARKER }) })
}
