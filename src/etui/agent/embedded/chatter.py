"""What people say to an assistant that is no command: the other side against which a match is weighed.

Above: choose. Below: nothing. It refuses to know tools: a sentence that is nearer to these than to any tool is not acted on.
"""

CHATTER = tuple(
    line.strip()
    for line in """
    what is the capital of Spain
    who was the first president of the United States
    who wrote Hamlet
    when did the second world war end
    how tall is Mount Everest
    how far away is the moon
    why is the sky blue
    why do cats purr
    what is the meaning of life
    what is the point of it all
    what does photosynthesis mean
    what is the history of this
    how does a car engine work
    how do computers work
    explain quantum physics to me
    what is the difference between a crocodile and an alligator
    who invented the telephone
    who is the president of France
    how old is the queen
    how many people live in India
    what is the population of Germany
    what is the best movie of all time
    what should I cook for dinner tonight
    what should I wear
    recommend me a good book
    write me a poem about the sea
    write an essay about climate change
    translate good morning into French
    tell me a story
    tell me about yourself
    tell me something interesting
    do you have feelings
    do you love me
    are you a robot
    how old are you
    where do you live
    what is your favourite colour
    what do you think about politics
    do you believe in god
    can you dance
    can you keep a secret
    I had a long day at work
    I am so tired today
    I am bored
    I am feeling sad
    I am happy to be home
    I feel sick
    I love this weather
    my boss is annoying
    my dog is sick
    my sister is getting married
    we went to the beach yesterday
    I went shopping yesterday and it was fun
    I watched a movie last night
    I forgot my umbrella
    I lost my keys
    I like music
    I used to play the guitar
    I do not like mondays
    I hate waiting
    the food was great
    the meeting was boring
    that is funny
    that is a good idea
    that was great
    you are great
    you are not very smart
    well done
    nice to meet you
    good night
    see you later
    what a beautiful day
    it was nice talking to you
    he told me a secret
    she said she would come
    they never call me back
    nothing much
    never mind that
    I do not know what to do
    I wonder what she is doing
    people say that a lot
    life is hard sometimes
    time flies
    time is money
    the lights of the city are beautiful
    I read a book about music
    I bought a new car
    my phone is broken
    I need a holiday
    I need some advice
    I am going to bed
    I am getting old
    let us talk about something else
    what happened in the news
    who won the game last night
    what are the symptoms of the flu
    is it true that honey never spoils
    how do I become rich
    how do I learn to play the piano
    how can I lose weight
    what is love
    what is your name
    book me a flight to New York
    order me a pizza
    call me a taxi
    drive me home
    make me a sandwich
    sing me a song
    sing happy birthday
    help me with my homework
    fix my computer
    """.strip().splitlines()
)
