import type { ModuleAnswer, ModuleRequest } from '../protocol.ts'
import { toMessage } from './library.ts'
import { createModule } from './module.ts'

// This program has loaded one PKCS#11 library and answers the service. It ends with the service, whose
// channel closes then.

const [path = ''] = process.argv.slice(2)
const ask = createModule(path)

process.on('message', async (request: ModuleRequest) => {
  process.send?.(await answer(request))
})
process.on('disconnect', () => process.exit())

async function answer(request: ModuleRequest): Promise<ModuleAnswer> {
  const { number } = request
  try {
    return { number, result: await ask(request) }
  } catch (error) {
    return { number, fault: toMessage(error) }
  }
}
