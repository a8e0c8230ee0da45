// `npm ci` runs this file with the Node.js that it finds. An older one cannot load TypeScript, and would say so in words that help no one.
const LEAST_MAJOR = 24

if (Number(process.versions.node.split('.', 1)[0]) < LEAST_MAJOR) {
  console.error(
    `Node.js ${LEAST_MAJOR} or later is needed, and this is ${process.versions.node}. npm ci without --omit=dev installs one for this folder.`,
  )
  process.exit(1)
}
await import('./prepare.ts')
