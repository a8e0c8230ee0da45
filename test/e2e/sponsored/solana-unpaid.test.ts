import { afterAll, beforeAll, expect, test } from 'vitest'
import { MAIN } from '../../support/solana-scenario.ts'
import { until } from '../../support/until.ts'
import { type SponsoredSolana, signAs, startSponsoredSolana, USDC } from './solana-sponsored.ts'

let scenario: SponsoredSolana
beforeAll(async () => {
  scenario = await startSponsoredSolana()
}, 60_000)
afterAll(() => scenario.stop())

const build = (amount: bigint) => scenario.build({ transaction: scenario.gift(amount), fee_token: USDC })

async function signedBuilds(amounts: readonly bigint[]): Promise<{ readonly transaction: string }[]> {
  const bodies = []
  for (const amount of amounts) {
    const { body } = await build(amount)
    bodies.push({ transaction: signAs(body.data.transaction, scenario.user) })
  }
  return bodies
}

test('a user who pays has at most ten open transactions, also of eleven that come at once', async () => {
  const { post, tickUntil } = scenario
  const bodies = await signedBuilds(Array.from({ length: 11 }, (_, index) => BigInt(index + 1)))
  const answers = await Promise.all(bodies.map((body) => post(body)))
  const refused = answers.filter(({ status }) => status !== 200)
  expect(refused).toMatchObject([
    { status: 400, body: { code: 'policy_violation', error: expect.stringContaining('10 transactions of') } },
  ])
  expect((await build(99n)).body).toMatchObject({ code: 'policy_violation' })
  for (const { status, body } of answers) if (status === 200) await tickUntil(body.data.id, 'confirmed')
  expect((await build(99n)).status).toBe(200)
})

test('a user whose transactions fail three times in blocks gets no further one that day, not even one that was built before', async () => {
  const { post, get, reach, tokensAt, userTokens, relayerTokens, solana } = scenario
  const most = (tokensAt(userTokens) * 6n) / 10n
  const [last, ...bodies] = await signedBuilds([1n, most, most + 1n, most + 2n, most + 3n])
  const before = solana.account(MAIN)?.lamports ?? 0n
  const paid = tokensAt(relayerTokens)
  const answers = await Promise.all(bodies.map((body) => post(body)))
  const sent = answers.map(({ body }) => body.data.id)
  // All of them are signed while the tokens are still there.
  for (const id of sent) await reach(id, 'submitted')
  const ended = await until(
    () => {
      solana.tick()
      return Promise.all(sent.map(get))
    },
    (seen) => seen.every(({ status }) => status === 'confirmed' || status === 'failed'),
  )
  expect(ended.map(({ status }) => status).sort()).toEqual(['confirmed', 'failed', 'failed', 'failed'])
  // The relayer paid four fees, and was paid one.
  expect(before - (solana.account(MAIN)?.lamports ?? 0n)).toBe(40_000n)
  expect(tokensAt(relayerTokens) - paid).toBe(1_515n)
  const refusal = {
    status: 400,
    body: {
      code: 'policy_violation',
      error: expect.stringMatching(/^3 transactions of .* failed within a day/),
    },
  }
  expect(await post(last ?? {})).toMatchObject(refusal)
  expect(await build(1n)).toMatchObject(refusal)
})
