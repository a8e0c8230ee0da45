import { expect, onTestFinished, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { ON_ANVIL, startAnvil } from '../../support/anvil.ts'
import { createAdjustableClock } from '../../support/clock.ts'
import { DEV_KEYS, plainSigner, startService, type Transaction } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { ETHER, RULE } from './scenario.ts'

/** The phrase of anvil's own accounts; the treasury has the first one. */
const PHRASE = 'test test test test test test test test test test test junk'
const SEED = {
  id: 'seed',
  type: 'mnemonic',
  config: { mnemonic: { type: 'plain', value: PHRASE }, index: 4 },
}

const lower = (address: string) => address.toLowerCase()

/** A relayer with three accounts, of which these, by number, are empty, and a treasury. */
async function start(from: string, empty: readonly number[]) {
  const anvil = await startAnvil({ args: ['--no-mining'] })
  onTestFinished(() => anvil.stop())
  const addresses = (await anvil.rpc<string[]>('eth_accounts')).slice(4, 7)
  const balances = () =>
    Promise.all(
      addresses.map(async (address) =>
        BigInt(await anvil.rpc<string>('eth_getBalance', [address, 'latest'])),
      ),
    )
  for (const index of empty) await anvil.rpc('anvil_setBalance', [addresses[index], '0x0'])
  await anvil.rpc('evm_mine')
  const clock = createAdjustableClock()
  const shared = { name: 'Test', ...ON_ANVIL }
  const pool = { id: 'pool', signer_id: 'seed', ...shared, accounts: [{ signer_id: 'seed', count: 3 }] }
  const service = await startService({
    rpcUrls: [anvil.url],
    clock,
    signers: [plainSigner('dev-0', DEV_KEYS[0]), SEED],
    relayers: [
      { id: 'treasury', signer_id: 'dev-0', ...shared },
      { ...pool, policies: { top_up: { ...RULE, from } } },
    ],
  })
  onTestFinished(() => service.stop())
  const paid = async () =>
    (await service.api<Transaction[]>('GET', `/relayers/${from}/transactions?per_page=100`)).body.data
  /** Lets time pass until this many are paid and final. */
  const paysUntil = (count: number) =>
    until(
      async () => {
        clock.advance(30_000)
        await anvil.rpc('evm_mine')
        return paid()
      },
      (all) => all.length >= count && all.every(({ status }) => status === 'confirmed'),
    )
  return { anvil, service, clock, addresses, paysUntil, paid, balances }
}

test('a treasury fills every account of a relayer', async () => {
  const { addresses, paysUntil, balances } = await start('treasury', [0, 1, 2])
  const paid = await paysUntil(3)
  expect(paid.map(({ to }) => lower(to ?? '')).toSorted()).toEqual(addresses.map(lower).toSorted())
  expect(paid.map(({ top_up_of }) => top_up_of)).toEqual(['pool', 'pool', 'pool'])
  expect(await balances()).toEqual([2n * ETHER, 2n * ETHER, 2n * ETHER])
})

test('the first account of a relayer fills its others, and not itself', async () => {
  const { addresses, paysUntil, balances, service } = await start('pool', [1, 2])
  const paid = await paysUntil(2)
  expect(paid.map(({ to }) => lower(to ?? '')).toSorted()).toEqual(addresses.slice(1).map(lower).toSorted())
  expect(paid.map((one) => [lower(one.from), one.top_up_of])).toEqual([
    [lower(addresses[0] ?? ''), 'pool'],
    [lower(addresses[0] ?? ''), 'pool'],
  ])
  expect((await balances()).slice(1)).toEqual([2n * ETHER, 2n * ETHER])
  const { body } = await service.api<Schemas['RelayerStatus']>('GET', '/relayers/pool/status')
  expect(JSON.stringify(body.data)).not.toContain('pool/')
})

test('changes of a relayer and payments to its own accounts do not block each other', async () => {
  const { service, clock, anvil, balances } = await start('pool', [1, 2])
  await until(
    async () => {
      clock.advance(30_000)
      await anvil.rpc('evm_mine')
      const answers = await Promise.all(
        Array.from({ length: 4 }, (_, index) =>
          service.api('PATCH', '/relayers/pool', { name: `Pool ${index}` }),
        ),
      )
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
      return balances()
    },
    ([, ...further]) => further.every((balance) => balance >= ETHER),
  )
})
