/** Takes pictures of the pages with fixed data: `npx tsx test/console/web/look.ts FOLDER [NAME,…]`. */
import { AIRLINE_PATH, CLERK_PATH, takePictures, type Picture } from './pictures.ts';

const SHOTS: readonly (readonly [name: string, path: string])[] = [
  ['runs', '/'],
  ['run', AIRLINE_PATH],
  ['clerk', CLERK_PATH],
  ['program', `${CLERK_PATH}?tab=program`],
  ['tree', '/runs/top-31?tab=tree'],
  ['long', '/runs/tester-7'],
  ['events', `${AIRLINE_PATH}?tab=events&event=5`],
  ['prompt', `${AIRLINE_PATH}?tab=prompt`],
  ['health', `${AIRLINE_PATH}?tab=health`],
  ['raw', `${AIRLINE_PATH}?tab=raw`],
  ['inbox', '/inbox'],
  ['agents', '/agents'],
  ['agent', '/agents/clerk'],
  ['schedules', '/schedules'],
  ['tenants', '/tenants'],
  ['diff', `/diff?a=top-31&b=${AIRLINE_PATH.slice('/runs/'.length)}`],
  ['system', '/system'],
];

const SCREENS: readonly Pick<Picture, 'scheme' | 'width' | 'height'>[] = [
  { scheme: 'light', width: 1360, height: 860 },
  { scheme: 'dark', width: 1360, height: 860 },
  { scheme: 'light', width: 390, height: 844 },
];

const [folder = '/tmp/console-shots', only = ''] = process.argv.slice(2);
const shots = SHOTS.filter(([name]) => only === '' || only.split(',').includes(name));
const pictures = SCREENS.flatMap((screen) =>
  shots.map(([name, path]): Picture => {
    const { scheme, width } = screen;
    return { name: `${name}-${scheme}-${width}`, path, ...screen };
  }),
);
for (const note of await takePictures(folder, pictures)) console.log(note);
