import { loadConfig } from '../config/load.ts'
import { configuredAccounts } from '../relayers/accounts.ts'
import { loadKeys } from '../signers/load.ts'
import { type Command, EXIT } from './command.ts'

/** `relayer check-config`. */
export const checkConfig: Command = {
  name: 'check-config',
  summary: 'Check the configuration and open every key, without starting anything.',
  usage: '',
  help: [
    'Reads the same as serve: CONFIG_DIR (default ./config), CONFIG_FILE_NAME (default config.json), the .env beside it, and',
    'the environment. Prints each relayer with its address, or one list of all problems. Connects to no network and no',
    'database.',
  ],
  options: [],
  maxPositionals: 0,
  async run(_args, terminal) {
    const config = loadConfig()
    const accounts = await configuredAccounts(config, await loadKeys(config.signers))
    terminal.out(`${config.file} is valid.`)
    for (const { id, network } of config.relayers) {
      terminal.out(`  relayer ${id}: ${accounts.get(id)?.addresses[0]} on ${network}`)
    }
    return EXIT.ok
  },
}
