/**
 * Runs the Stellar ledger by itself until Ctrl+C:
 *
 *     node simulators/stellar/main.ts --port 8000 --close-every-ms 5000 --fund G…
 *
 * Each account that `--fund` names has 10,000 XLM from the beginning.
 */
import { parseArgs } from 'node:util'
import { startLedger } from './start-ledger.ts'

const STROOPS_PER_ACCOUNT = 10_000n * 10_000_000n

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '8000' },
    'close-every-ms': { type: 'string', default: '5000' },
    fund: { type: 'string', multiple: true, default: [] },
  },
})

const ledger = await startLedger({
  port: Number(values.port),
  closeEveryMs: Number(values['close-every-ms']),
})
for (const address of values.fund) ledger.fund(address, STROOPS_PER_ACCOUNT)
console.log(`RPC: ${ledger.url}\nNetwork passphrase: ${ledger.passphrase}`)
process.once('SIGINT', () => void ledger.stop())
