import { setTimeout as pause } from 'node:timers/promises'
import { type Anvil, startAnvil } from '../../test/support/anvil.ts'
import { type AdjustableClock, createAdjustableClock } from '../../test/support/clock.ts'
import type { Random } from '../../test/support/random.ts'
import { type Service, startService, type Transaction } from '../../test/support/service.ts'
import { type Attack, type AttackContext, createTally, type Report, type Tally } from './attack.ts'
import { contradiction } from './rpc/three-chains.ts'

/**
 * The chain loses blocks with confirmed payments again and again, while another relayer goes on paying. Each loss has to be noticed within a minute,
 * and at the end every payment is in the chain exactly once.
 */
export const reorganisations: Attack = { name: 'reorganisations', deadlineMs: 240_000, run }

const ROUNDS = 6

/** The most blocks that a round loses; a payment counts as final after two. */
const DEEPEST = 8
const CONFIRMATIONS = 2

/** A look of the service at the chain, in ms of its clock: two of them are a minute. */
const LOOK_MS = 30_000

/** The real time that the service gets for a look, in ms, and the looks after which a round gives up. */
const PAUSE_MS = 250
const MOST_LOOKS = 40

const PAYEE = '0x00000000000000000000000000000000000000c1'
const RELAYERS = ['main', 'other'] as const

interface World {
  readonly anvil: Anvil
  readonly service: Service
  readonly clock: AdjustableClock
  readonly tally: Tally
}

async function run({ random }: AttackContext): Promise<Report> {
  const tally = createTally()
  const clock = createAdjustableClock()
  const anvil = await startAnvil({ args: ['--no-mining'] })
  // A chain can lose no more blocks than it has.
  await anvil.rpc('anvil_mine', [`0x${DEEPEST.toString(16)}`])
  const network = { required_confirmations: CONFIRMATIONS }
  const service = await startService({ rpcUrls: [anvil.url], network, clock })
  try {
    await attack({ anvil, service, clock, tally }, random)
  } finally {
    await service.stop()
    await anvil.stop()
  }
  return tally.report()
}

async function attack(world: World, random: Random): Promise<void> {
  const { anvil, tally } = world
  const payments: { readonly path: string }[] = []
  const pay = async (relayer: (typeof RELAYERS)[number]) => {
    const path = `/relayers/${relayer}/transactions`
    const { status, body } = await world.service.api('POST', path, { to: PAYEE, value: 1 })
    tally.check(status === 200, () => `a payment of ${relayer} was answered ${status}: ${body.error}`)
    if (status === 200) payments.push({ path: `${path}/${body.data.id}` })
  }
  const records = () =>
    Promise.all(payments.map(async ({ path }) => (await world.service.api('GET', path)).body.data))
  let lost = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const relayer of RELAYERS)
      for (let count = random.int(1, 3); count > 0; count -= 1) await pay(relayer)
    await lookUntil(world, async () => (await records()).every(isConfirmed))
    const depth = random.int(1, DEEPEST)
    const before = await missing(world, await records())
    await anvil.rpc('anvil_reorg', [depth, []])
    const gone = await missing(world, await records())
    tally.check(
      before.length === 0,
      () => `round ${round}: ${before.length} confirmed records are not in the chain`,
    )
    // What the other relayer confirms meanwhile must not hide what is gone.
    await pay('other')
    for (let look = 0; look < 2; look += 1) await makeLook(world)
    const { body } = await world.service.api<{ readonly transaction_id?: string }[]>(
      'GET',
      '/events?type=transaction_reorganized&limit=100',
    )
    const told = new Set(body.data.map((event) => event.transaction_id))
    for (const { id } of gone)
      tally.check(
        told.has(id),
        () => `round ${round}: nothing told within a minute that ${id} lost its block`,
      )
    lost += gone.length
    const isWhole = async () => {
      const all = await records()
      return all.every(isConfirmed) && (await missing(world, all)).length === 0
    }
    const came = await lookUntil(world, isWhole)
    tally.check(came, () => `round ${round}: some payments did not get into the chain again`)
  }
  const paid = BigInt(await anvil.rpc<string>('eth_getBalance', [PAYEE, 'latest']))
  tally.check(
    paid === BigInt(payments.length),
    () => `${paid} wei were paid, and ${payments.length} were asked for`,
  )
  for (const record of await records()) {
    const problem = await contradiction(record, (hash) => fateOf(anvil, hash))
    tally.check(problem === undefined, () => problem ?? '')
  }
  tally.check(lost > 0, () => 'no reorganisation hit a confirmed payment, so this run shows nothing')
  tally.note(`${payments.length} payments; blocks of ${lost} confirmed ones were lost`)
}

const isConfirmed = ({ status }: Transaction) => status === 'confirmed'

/** Lets time pass, makes blocks, and gives the service the time to look. */
async function makeLook({ anvil, clock }: World): Promise<void> {
  clock.advance(LOOK_MS)
  await pause(PAUSE_MS)
  await anvil.rpc('anvil_mine', ['0x2'])
  await pause(PAUSE_MS)
}

async function lookUntil(world: World, isDone: () => Promise<boolean>): Promise<boolean> {
  for (let look = 0; look < MOST_LOOKS; look += 1) {
    if (await isDone()) return true
    await makeLook(world)
  }
  return isDone()
}

/** The records that say confirmed, and of which the chain has no attempt. */
async function missing({ anvil }: World, records: readonly Transaction[]): Promise<Transaction[]> {
  const found = await Promise.all(
    records.map(async (record) => {
      const fates = await Promise.all(record.attempts.map(({ hash }) => fateOf(anvil, String(hash))))
      return !isConfirmed(record) || fates.some((fate) => fate !== 'absent') ? [] : [record]
    }),
  )
  return found.flat()
}

async function fateOf(anvil: Anvil, hash: string) {
  const receipt = await anvil.rpc<{ status: string } | null>('eth_getTransactionReceipt', [hash])
  if (receipt === null) return 'absent'
  return receipt.status === '0x1' ? 'succeeded' : 'reverted'
}
