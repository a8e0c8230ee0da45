import { anvilCommand, relayerCommand } from './shell-commands.ts'

/** The starter configuration: one relayer on a local anvil. */
export const STARTER_CONFIG = {
  relayers: [
    {
      id: 'local-1',
      name: 'Local',
      network: 'anvil',
      network_type: 'evm',
      signer_id: 'local',
      paused: false,
      policies: { gas_price_cap: 100_000_000_000 },
    },
  ],
  signers: [
    {
      id: 'local',
      type: 'local',
      config: { path: 'keys/local.json', passphrase: { type: 'file', value: 'keys/local.passphrase' } },
    },
  ],
  notifications: [],
  networks: [
    {
      type: 'evm',
      network: 'anvil',
      chain_id: 31_337,
      symbol: 'ETH',
      is_testnet: true,
      features: ['eip1559'],
      average_blocktime_ms: 1000,
      required_confirmations: 1,
      rpc_urls: ['http://127.0.0.1:8545'],
    },
  ],
} as const

/** 100 ether in hexadecimal wei. */
const STARTING_BALANCE = '0x56bc75e2d63100000'

/** Gives the next commands for the user after `init` created `folder` for `address`. */
export function nextSteps(folder: string, address: string): readonly string[] {
  const setting = folder === 'config' ? '' : `CONFIG_DIR=${quote(folder)} `
  const fund = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'anvil_setBalance',
    params: [address, STARTING_BALANCE],
  })
  return [
    'Start a local chain, fund the account there, and start the service (each in its own terminal):',
    '',
    `  ${anvilCommand('--block-time 20')}`,
    `  curl -s http://127.0.0.1:8545 -H 'content-type: application/json' -d '${fund}'`,
    `  ${setting}${relayerCommand('serve')}`,
    '',
    'Then send it a request:',
    '',
    `  curl -s http://127.0.0.1:8080/api/v1/relayers -H "Authorization: Bearer $(sed -n 's/^API_KEY=//p' ${quote(`${folder}/.env`)})"`,
  ]
}

/** Quotes a path for a POSIX shell. */
function quote(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}
