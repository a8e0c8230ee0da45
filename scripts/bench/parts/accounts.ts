import { startProcess } from '../../../test/support/process.ts'
import { type Row, single } from '../measurement.ts'
import { ACCOUNTS, configOfAccounts, giveMoney, RELAYERS, sendTo, settled } from '../support/accounts.ts'
import { cpuMs, WITHOUT_LIMITS, withAnvil, withFolder } from '../support/stage.ts'

/** Sent before the clock runs. */
const WARM_UP = 400

const SEND = `send from ${ACCOUNTS} accounts, embedded`

/** Sending from many accounts, each of which has a few requests at a time, beside sending as many from one. */
export async function benchAccounts({ transactions }: { transactions: number }): Promise<Row[]> {
  const [one, many] = [
    await measure(RELAYERS.slice(0, 1), transactions),
    await measure(RELAYERS, transactions),
  ]
  return [
    {
      what: `${SEND}, accepted; bare: from one`,
      ours: `${many.perSecond.toFixed(0)} /s`,
      bare: `${one.perSecond.toFixed(0)} /s`,
      value: many.perSecond / one.perSecond,
    },
    single(`${SEND}: CPU per transaction until all are final`, many.cpuMs, { unit: 'ms', digits: 2 }),
  ]
}

async function measure(relayers: readonly string[], count: number) {
  return withFolder((folder) =>
    withAnvil(async (anvil) => {
      const config = configOfAccounts(anvil)
      const service = await startProcess({ rpcUrl: anvil.url, folder, config, env: WITHOUT_LIMITS })
      try {
        await giveMoney(anvil, [service])
        await sendTo([service], WARM_UP, relayers)
        await settled([service])
        const before = await cpuMs(service)
        const start = performance.now()
        await sendTo([service], count, relayers)
        const perSecond = (count / (performance.now() - start)) * 1000
        await settled([service])
        return { perSecond, cpuMs: ((await cpuMs(service)) - before) / count }
      } finally {
        await service.terminate()
      }
    }),
  )
}
