/**
 * A provider of OpenAI's chats, as a process of its own: each answer has as many pieces as its path
 * says, one every so many milliseconds: `/60/25/chat/completions`.
 */
import { createServer } from 'node:http';

const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' };
const event = (choice, more) =>
  `data: ${JSON.stringify({ ...head, choices: [{ index: 0, ...choice }], ...more })}\n\n`;

const server = createServer((request, response) => {
  request.resume();
  const [, pieces, everyMs] = request.url.split('/').map(Number);
  const usage = { prompt_tokens: 10, completion_tokens: pieces, total_tokens: pieces + 10 };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  let sent = 0;
  const timer = setInterval(() => {
    sent += 1;
    const delta = { content: ` word${sent}` };
    if (sent <= pieces) return void response.write(event({ delta, finish_reason: null }));
    clearInterval(timer);
    response.end(`${event({ delta: {}, finish_reason: 'stop' }, { usage })}data: [DONE]\n\n`);
  }, everyMs);
  response.on('close', () => clearInterval(timer));
});
server.listen(0, '127.0.0.1', () => process.send(server.address().port));
process.on('disconnect', () => process.exit());
